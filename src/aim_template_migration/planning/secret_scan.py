"""Finds literals that look like secrets, and replaces them (pure): R, "Plan and review".

The detectors of a maintained library say what a token looks like; knowledge of these APIs says where credentials live.
It is best-effort: sanitisation is no guarantee that every credential is found.

Objects are sanitised as they are reduced, before anything else sees them, so that no digest, document, message or log
can hold what was replaced.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from math import log2
from typing import Any, Protocol

import msgspec

from aim_api.tree import Json, JsonObject, Key, field_path
from aim_template_migration.planning.credential_names import harmless_value, names_credential
from aim_template_migration.planning.snapshot import SecretHit

MARKER = "<redacted: looks like a secret>"

_PLUGINS = [
    "ArtifactoryDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    "BasicAuthDetector",
    "CloudantDetector",
    "DiscordBotTokenDetector",
    "GitHubTokenDetector",
    "GitLabTokenDetector",
    "IbmCloudIamDetector",
    "IbmCosHmacDetector",
    "JwtTokenDetector",
    "MailchimpDetector",
    "NpmDetector",
    "OpenAIDetector",
    "PrivateKeyDetector",
    "PypiTokenDetector",
    "SendGridDetector",
    "SlackDetector",
    "SoftlayerDetector",
    "SquareOAuthDetector",
    "StripeDetector",
    "TelegramBotTokenDetector",
    "TwilioKeyDetector",
]
_ARGUMENT = (
    r"(?i)(?:^|[\s?&;,-])(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?(?:access[_-]?)?key"
    r"|client[_-]?secret|auth[_-]?token|account[_-]?key)\s*=\s*(?!\$[({])[^\s&;,\"']{4,}"
)
_OWN_PATTERNS: tuple[tuple[str, str], ...] = (
    ("Hugging Face token", r"\b(?:hf|api_org)_[A-Za-z0-9]{20,}"),
    ("NVIDIA API key", r"\bnvapi-[A-Za-z0-9_-]{20,}"),
    ("Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("API key", r"\bsk-[A-Za-z0-9_-]{20,}"),
    ("GitHub fine-grained token", r"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", r"\bgl(?:pat|dt|rt|ptt|cbt|ft|soat|imt|agent)-[A-Za-z0-9_-]{16,}"),
    ("Databricks token", r"\bdapi[a-f0-9]{32}"),
    ("signed URL", r"(?i)[?&](?:X-Amz-(?:Signature|Credential|Security-Token)|sig|signature|sv)=[^&\s]{8,}"),
    ("bearer token", r"(?i)\b(?:bearer|basic)\s+[A-Za-z0-9+/=._~-]{16,}"),
    ("URL with a user and a password", r"[a-z][a-z0-9+.-]*://[^\s/@:]*:[^\s/@]+@"),
    ("URL with a token as its user", r"[a-z][a-z0-9+.-]*://[^\s/@:]{16,}@"),
    ("credential in an argument", _ARGUMENT),
)
# Most texts are names, UIDs and images in lower case. They can only match the few patterns that need nothing else.
_NAME = re.compile(r"[a-z0-9./:-]+")
_LOWER_CASE_TOKEN = re.compile(
    r"dapi|gl[a-z]{2,5}-|sk-|nvapi|xox|hooks|key|pwd|pass|pw|token|secret|cloudant|clou|softlayer|[0-9a-z]{32}-us|[0-9]{8}:"
)
_TOKEN = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_OWN_BLOCKS = re.compile(
    r"-----BEGIN [A-Z0-9 ]*-----.*?(?:-----END [A-Z0-9 ]*-----|\Z)|(?i:\b(?:bearer|basic)\s+[a-z0-9+/=._~-]{16,})",
    re.DOTALL,
)
_NAMING = (
    r"metadata\.(?:name|generateName|namespace|annotations|(?:labels|finalizers|ownerReferences)(?:[.\[][^\s:,\"]*)?)"
)
"""Fields of which messages quote names, labels and keys; a value of an annotation has a field of its own."""
_QUOTED_VALUES = (
    # What names something must be seen if it is refused; the definitions' rules name a type in the place of the value.
    re.compile(
        rf'(?P<head>(?P<naming>\b{_NAMING}: )?Invalid value: ")'
        r'(?!(?:object|array|string|integer|number|boolean|null)")(?P<value>(?:[^"\\]|\\.)*)(?P<tail>")'
    ),
    re.compile(r'(?P<head>"value"\s*:\s*")(?P<value>(?:[^"\\]|\\.)*)(?P<tail>")'),
    re.compile(r'(?P<head>\\"value\\"\s*:\s*\\")(?P<value>(?:\\\\\\"|(?!\\").)*)(?P<tail>\\")'),
    re.compile(r"(?P<head>\bmap\[name:\S+ value:)(?P<value>[^\]]+)(?P<tail>\])"),
)
_NAMED_VALUE = re.compile(
    r"""(?P<head>(?P<name>[A-Za-z_][\w.-]*)\\?["']?\s?(?P<sign>[:=])\s*)"""
    r"""(?!<redacted|(?:Invalid|Required|Unsupported|Duplicate|Forbidden|Too|Internal|Not)\s)"""
    r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|\\"(?:(?!\\").)*\\"|[^\s,;"'\\{}\[\]]+)"""
)
_HEX_WORD = re.compile(r"(?<![\w:/@-])[0-9a-fA-F]{32,}(?!\w)")
_ENTROPY_LIMIT = 4.2
_HEX_ENTROPY_LIMIT = 3.0
_SHORTEST = 8
_KNOWN_LIMIT = 200_000
_IDENTIFIERS = frozenset(
    {
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "ownerReferences",
        "finalizers",
    }
)
_TYPE = frozenset({"apiVersion", "kind"})
_known: dict[str, str] = {}

SECRET_WORD = "ecret"  # noqa: S105 - part of a word
"""What stands in every field that names a Secret; texts with it are looked at each time."""
# Texts of these characters alone, without one of these words in them, neither look like a secret nor name a credential.
_SUSPICIOUS = re.compile(
    r"[^a-z0-9./:\n-]|key|pat|pwd|pass|pw|token|ecret|bearer|basic|authorization|dockerconfig|credential|connection"
    r"|dapi|gl[a-z]{2,5}-|sk-|nvapi|xox|hooks|clou|softlayer|(?<![0-9a-z])[0-9a-z]{32}|[0-9]:"
)
_HARMLESS_LIMIT = 50_000
_NESTED = (dict, list)
_harmless: set[str] = set()


def fresh_texts(obj: JsonObject) -> list[str]:
    """Return the texts of what ``sanitise`` looks at, keys included, that are not known to be harmless everywhere."""
    fresh: list[str] = []
    for key, value in obj.items():
        if key == "metadata" and isinstance(value, dict):
            for name, item in value.items():
                if name not in _IDENTIFIERS:
                    _collect_fresh(item, fresh, _harmless)
        elif key not in _TYPE:
            _collect_fresh([key, value], fresh, _harmless)
    return fresh


def all_harmless(texts: list[str]) -> bool:
    """Return whether nothing with these texts in it holds anything that ``sanitise`` would replace.

    Every text is looked at by itself: it must neither look like a secret nor name a credential, so that it does not
    matter what stands beside it. What passes is known the next time: a fleet's objects have few texts of their own.
    """
    if not texts:
        return True
    if _SUSPICIOUS.search("\n".join(texts)) and not all(map(_is_harmless, texts)):
        return False
    if len(_harmless) > _HARMLESS_LIMIT:
        _harmless.clear()
    _harmless.update(text for text in texts if SECRET_WORD not in text)
    return True


def sanitise(obj: JsonObject) -> tuple[JsonObject, tuple[SecretHit, ...]]:
    """Return a Kubernetes object with secret-looking literals replaced, and where they were, in document order.

    The object is returned as it is, not copied, where nothing was found.
    """
    hits: list[SecretHit] = []
    changed = dict(obj)
    for key, value in obj.items():
        if key in _TYPE:
            continue
        changed[key] = (
            _metadata(value, hits) if key == "metadata" and isinstance(value, dict) else _walk(value, (key,), key, hits)
        )
    return (changed, tuple(hits)) if hits else (obj, ())


def looks_secret(text: str) -> str:
    """Return what a text looks like (the name of a kind of secret), or an empty string."""
    if len(text) < _SHORTEST:
        return ""
    found = _known.get(text)
    if found is None:
        found = _detect(text)
        if len(_known) >= _KNOWN_LIMIT:
            _known.clear()
        _known[text] = found
    return found


def redact(text: str) -> str:
    """Return a message with what looks secret in it replaced; for texts that quote other systems.

    A value is replaced for what it looks like, for the name before it, or for its place: messages of the API quote
    rejected values behind ``Invalid value:``, and whole environment variables as JSON.
    """
    text = _OWN_BLOCKS.sub(MARKER, text)
    if looks_secret(text):
        text = "".join(MARKER if looks_secret(word) else word for word in re.split(r"(\s+)", text))
        if looks_secret(text):
            return MARKER
    for pattern in _QUOTED_VALUES:
        text = pattern.sub(_without_value, text)
    text = _without_named_values(text)
    return _HEX_WORD.sub(lambda found: MARKER if _random_looking(found[0]) else found[0], text)


def redact_about(field: str, message: str) -> str:
    """Return a message about a field with what looks secret in it replaced: the names that it quotes stay."""
    head = f"{field}: "
    if re.fullmatch(_NAMING, field) and message.startswith("Invalid value: "):
        redacted = redact(f"{head}{message}")
        if redacted.startswith(head):
            return redacted.removeprefix(head)
    return redact(message)


def _collect_fresh(value: Json, fresh: list[str], harmless: set[str]) -> None:
    if isinstance(value, dict):
        if not harmless.issuperset(value):
            fresh.extend(key for key in value if key not in harmless)
        items: Iterable[Json] = value.values()
    elif isinstance(value, list):
        items = value
    else:
        items = (value,)
    for item in items:
        if isinstance(item, str):
            if item not in harmless:
                fresh.append(item)
        elif isinstance(item, _NESTED):
            _collect_fresh(item, fresh, harmless)


def _is_harmless(text: str) -> bool:
    """Return whether a text is no secret and names none."""
    if not _SUSPICIOUS.search(text):
        return True
    return not (names_credential(text) or looks_secret(text) or _random_looking(text) or _holds_secret_json(text))


def _holds_secret_json(text: str) -> bool:
    return len(text) >= _SHORTEST and text[0] in "{[" and bool(_of_json(text))


def _without_value(found: re.Match[str]) -> str:
    if found.groupdict().get("naming") or harmless_value(found["value"]):
        return found[0]
    return f"{found['head']}{MARKER}{found['tail']}"


def _without_named_values(text: str) -> str:
    parts: list[str] = []
    done = 0
    found = _NAMED_VALUE.search(text)
    while found:
        value = found["value"].strip("\\\"'")
        if names_credential(found["name"]) and not harmless_value(value):
            # Behind an equals sign the marker itself would look like a value to be replaced.
            parts += [text[done : found.start()], "" if found["sign"] == "=" else found["head"], MARKER]
            done = found.end()
        # What stands behind the name of no credential may itself be a name.
        found = _NAMED_VALUE.search(text, max(done, found.end("head")))
    return "".join([*parts, text[done:]])


def _metadata(metadata: JsonObject, hits: list[SecretHit]) -> JsonObject:
    return {
        key: value if key in _IDENTIFIERS else _walk(value, ("metadata", key), "", hits)
        for key, value in metadata.items()
    }


def _walk(value: Json, path: tuple[Key, ...], name: str, hits: list[SecretHit]) -> Json:
    """Return ``value`` with secrets replaced; ``name`` is what the value is called."""
    if isinstance(value, str):
        what = _of_literal(value, path, name)
        if not what:
            return value
        hits.append(SecretHit(field_path(path), what))
        return MARKER
    if isinstance(value, dict):
        return {key: _walk(item, (*path, key), _name_of(value, key), hits) for key, item in value.items()}
    if isinstance(value, list):
        return [
            _walk(item, (*path, index), name if isinstance(item, str) else "", hits) for index, item in enumerate(value)
        ]
    return value


def _name_of(parent: JsonObject, key: str) -> str:
    """Return what names the value at ``key``: an environment variable's own name, or the key itself."""
    if key == "value":
        own = parent.get("name")
        return own if isinstance(own, str) else key
    if key in ("key", "name") or (
        key.endswith("Key") and key[:-3] in ("accessKeyId", "secretAccessKey", "sessionToken")
    ):
        return ""  # names a key inside a Secret, not the key's value
    return key


def _of_literal(value: str, path: tuple[Key, ...], name: str) -> str:
    if not value or value == MARKER:
        return ""
    if name and names_credential(name) and not harmless_value(value):
        return f"value of {name}"
    what = looks_secret(value) or (_random_looking(value) if path[0] == "spec" and not _names_digest(name) else "")
    if what or value[0] not in "{[" or len(value) < _SHORTEST:
        return what
    return _of_json(value)


def _of_json(text: str) -> str:
    """Return what a JSON text holds: AIM_ENGINE_ARGS and last-applied-configuration are whole objects in one string."""
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return ""
    hits: list[SecretHit] = []
    _walk(value, ("spec",), "", hits)
    return f"{hits[0].what} (inside its JSON text)" if hits else ""


def _detect(text: str) -> str:
    if _NAME.fullmatch(text) and not _LOWER_CASE_TOKEN.search(text):
        return ""
    for what, pattern in _patterns():
        if pattern.search(text):
            return what
    for detector in _detectors():
        if any(True for _ in detector.analyze_string(text)):
            return detector.secret_type
    return ""


def _names_digest(name: str) -> bool:
    return name.lower().endswith(("hash", "digest", "sha", "sha256", "checksum", "revision", "commit"))


@lru_cache(maxsize=65536)
def _random_looking(text: str) -> str:
    """Return whether a text is one long random token; names and paths made of words never are."""
    if _HEX.fullmatch(text) and _entropy(text) > _HEX_ENTROPY_LIMIT:
        return "random hexadecimal text"
    if _TOKEN.fullmatch(text) and _mixed(text) and _entropy(text) > _ENTROPY_LIMIT:
        return "random text"
    return ""


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.islower, text)) and any(map(str.isupper, text))


def _entropy(text: str) -> float:
    return -sum(count / len(text) * log2(count / len(text)) for count in map(text.count, {*text}))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((what, re.compile(pattern)) for what, pattern in _OWN_PATTERNS)


class _Detector(Protocol):
    secret_type: str

    def analyze_string(self, string: str) -> Iterator[str]:
        """Yield the secrets in a string."""


@cache
def _detectors() -> tuple[_Detector, ...]:
    """Return the library's detectors; it is imported here because it takes a tenth of a second."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    known: dict[str, Any] = get_mapping_from_secret_type_to_class()
    classes: dict[str, Any] = {plugin.__name__: plugin for plugin in known.values()}
    return tuple(classes[name]() for name in sorted(_PLUGINS))
