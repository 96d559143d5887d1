"""Names and label values as the operator derives them.

Only for objects that do not exist yet, and for the simulator. Children that exist are found by owner UID, labels and
status references, never by a recomputed name: the formulas differ between operator versions.

Facts: legacy pipeline (name algorithm, name formulas), profile pipeline (name and label functions, test vectors).
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from aim_api.tree import Json

MAX_NAME = 63
_KNOWN = 2048  # names are asked for several times while a service is looked at
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_ENV_FIELD_ORDER = ("name", "value", "valueFrom")


def derive_name(
    parts: Sequence[str], hash_inputs: Sequence[Json] = (), hash_length: int = 8, limit: int = MAX_NAME
) -> str:
    """Return ``parts`` joined by dashes with a hash of ``hash_inputs``, cut to ``limit`` characters.

    The longest part (the first on a tie) loses its last character until the name fits.
    """
    cleaned = [_clean_part(part) for part in parts]
    suffix = f"-{_hash(hash_inputs)[:hash_length]}" if hash_inputs else ""
    while sum(map(len, cleaned)) + len(cleaned) - 1 + len(suffix) > limit:
        longest = max(range(len(cleaned)), key=lambda index: len(cleaned[index]))
        if len(cleaned[longest]) <= 1:
            break
        cleaned[longest] = cleaned[longest][:-1].rstrip("-")
    return "-".join(cleaned) + suffix


@lru_cache(maxsize=_KNOWN)
def label_value(text: str) -> str:
    """Return ``text`` as the operator writes it into a label value: lower case, other runs as one underscore.

    Raises:
        ValueError: nothing is left of ``text``.
    """
    value = re.sub(r"[^a-z0-9._-]+", "_", text.lower()).strip("_.-")[:MAX_NAME].strip("_.-")
    if not value:
        raise ValueError(f"{text!r} leaves nothing for a label value")
    return value


@lru_cache(maxsize=_KNOWN)
def runtime_name(profile: str) -> str:
    """Return the name of the ServingRuntime (and its ConfigMap) projected from a profile."""
    return derive_name(["aim", profile], [profile])


@lru_cache(maxsize=_KNOWN)
def shared_profile_cache_name(profile: str, namespace: str, scope: str) -> str:
    """Return the name of the service-driven Shared AIMProfileCache; ``scope`` is ``Namespace`` or ``Cluster``."""
    return derive_name([profile, "cache"], [f"{namespace}|{scope}", profile])


def dedicated_profile_cache_name(profile: str, service: str, service_uid: str, scope: str) -> str:
    """Return the name of a service's Dedicated AIMProfileCache; ``scope`` is ``Namespace`` or ``Cluster``."""
    return derive_name([profile, service, "cache"], [f"{service_uid}|{scope}"])


def inference_service_name(service: str, namespace: str) -> str:
    """Return the InferenceService name of newer operators, for the simulator alone.

    Raises:
        ValueError: the namespace leaves fewer than ten characters for the name.
    """
    limit = MAX_NAME - len("-predictor-") - len(namespace)
    if limit < 10:
        raise ValueError(f"namespace {namespace} is too long for an InferenceService name")
    return derive_name([service], [namespace, service], limit=limit)


def shared_template_cache_name(template: str, namespace: str) -> str:
    """Return the name of a service-made Shared AIMTemplateCache, for the simulator alone."""
    return derive_name([template], [namespace, template])


def artifact_name(
    source_uri: str, env: Sequence[Mapping[str, Json]], storage_class: str, dedicated_cache: str = ""
) -> str:
    """Return the name of the artifact that a cache creates; ``env`` is the cache's merged with the source's."""
    inputs: list[Json] = [source_uri, [_ordered_env(item) for item in env] or None, storage_class]
    if dedicated_cache:
        inputs += ["dedicated", dedicated_cache]
    return derive_name([source_uri.replace(".", "-")], inputs, hash_length=10)


def pvc_name(artifact: str, artifact_uid: str) -> str:
    """Return the name of the PersistentVolumeClaim that an artifact creates."""
    return derive_name([artifact, "cache"], [artifact_uid])


@lru_cache(maxsize=_KNOWN)
def slug_runtime_name(aim_id: str) -> str:
    """Return the name of the per-model runtime of the Reduced and Both projection modes."""
    return derive_name(["aim", aim_id])


def _clean_part(part: str) -> str:
    cleaned = re.sub(r"[^a-z0-9-]", "-", part.lower()).strip("-")[:MAX_NAME].rstrip("-")
    return cleaned or "part"


def _hash(inputs: Sequence[Json]) -> str:
    return hashlib.sha256("|".join(_go_json(item) for item in inputs).encode()).hexdigest()


def _go_json(value: Json) -> str:
    """Encode as Go's encoding/json does: compact, HTML characters escaped; maps become a flat sorted list."""
    if isinstance(value, dict):
        flat: list[Json] = []
        for key in sorted(value):
            flat += [key, value[key]]
        value = flat
    text = _COMPACT.encode(value)
    for character, escape in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        text = text.replace(character, escape)
    return text


def _ordered_env(item: Mapping[str, Json]) -> Json:
    """Return an environment entry with its fields in Go's order, empty ones left out."""
    return {key: item[key] for key in _ENV_FIELD_ORDER if item.get(key) not in (None, "")}
