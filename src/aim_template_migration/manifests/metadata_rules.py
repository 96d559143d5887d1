"""What an API server demands of the metadata of a manifest that is created: it can be decoded and keeps the rules."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.kinds import AIM_KINDS
from aim_api.tree import JsonObject, Key, field_path, get_str
from aim_schema.errors import TYPE_INVALID, invalid
from aim_schema.metadata_decoding import OBJECT_META, DecodingFault, decoding_faults, unknown_metadata
from aim_schema.metadata_rules import (
    MetadataProblem,
    NameRule,
    content_problems,
    finalizer_problems,
    generated_base,
    identity_problems,
    name_problems,
    prefix_problems,
)

UNKNOWN_FIELD = "FieldValueUnknown"
_CLUSTER_KINDS = frozenset(kind.name for kind in AIM_KINDS if not kind.namespaced)
_ANY_SUFFIX = "xxxxx"
_FORMS: dict[type, str] = {
    str: "write text, in quotes where it looks like something else",
    int: "write a whole number",
    bool: "write true or false",
    list: "write a list",
    dict: "write a mapping",
}
_TIME_FORM = "write a time such as 2026-11-30T12:00:00Z, or leave it to the server"


@dataclass(frozen=True, slots=True)
class MetadataFinding:
    """One thing that a server refuses.

    Attributes:
        path: where it is in the object.
        field: the field that the path leads to, the one that has the key where a key is refused.
        reason: the server's word for it.
        message: what the server says.
        advice: what to do; empty where the message says it.
    """

    path: tuple[Key, ...]
    field: str
    reason: str
    message: str
    advice: str = ""


def metadata_findings(value: JsonObject) -> Iterator[MetadataFinding]:
    """Yield what is wrong with the metadata of an object; a server names only the first that it can't decode."""
    metadata = value.get("metadata")
    yield from (_undecodable(fault) for fault in decoding_faults(metadata))
    yield from (_unknown(path) for path in unknown_metadata(metadata))
    known: JsonObject = metadata if isinstance(metadata, dict) else {}
    if metadata is not None and not isinstance(metadata, dict):
        return
    for problems in (_names(known, get_str(value, "kind") or ""), content_problems(known), finalizer_problems(known)):
        yield from map(_refused, problems)


def _refused(problem: MetadataProblem) -> MetadataFinding:
    error = problem.error
    field = error.field if problem.of_key else field_path(problem.path)
    return MetadataFinding(problem.path, field, error.reason, error.message)


def _undecodable(fault: DecodingFault) -> MetadataFinding:
    form = _TIME_FORM if fault.wanted.time else _FORMS.get(fault.wanted.json or object, "")
    return MetadataFinding(fault.path, field_path(fault.path), TYPE_INVALID, fault.message, form)


def _unknown(path: tuple[Key, ...]) -> MetadataFinding:
    field = field_path(path)
    known = list(OBJECT_META.fields) if len(path) == 2 else []
    near = difflib.get_close_matches(str(path[-1]), known, n=1)
    advice = f"did you mean {near[0]}?" if near else ""
    return MetadataFinding(path, field, UNKNOWN_FIELD, f'unknown field "{field}"', advice)


def _names(metadata: JsonObject, kind: str) -> Iterator[MetadataProblem]:
    yield from identity_problems(metadata, NameRule.SUBDOMAIN)
    prefix, namespace = get_str(metadata, "generateName") or "", get_str(metadata, "namespace") or ""
    if prefix and not metadata.get("name") and not prefix_problems(prefix, NameRule.SUBDOMAIN):
        made = f"{generated_base(prefix)}{_ANY_SUFFIX}"
        for problem in name_problems(made, NameRule.SUBDOMAIN):
            error = invalid("metadata.generateName", prefix, f"names like {made} come of it: {problem}")
            yield MetadataProblem(("metadata", "generateName"), error)
    # A server looks for the namespace, which can't exist by such a name; with a cluster kind it ignores it.
    if namespace and kind not in _CLUSTER_KINDS:
        for problem in name_problems(namespace, NameRule.LABEL):
            yield MetadataProblem(("metadata", "namespace"), invalid("metadata.namespace", namespace, problem))
