"""Whether a name says that its value is a credential (pure).

AIM and KServe keep credentials in environment variables, engine arguments and annotations, whose names say more than
the values do: a short password looks like any other word.
"""

import re
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ALWAYS = frozenset(
    {"password", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "credential", "credentials"}
) | frozenset({"apikey", "accesskey", "secretkey", "authtoken", "bearer", "authorization", "dockerconfigjson", "pat"})
_PAIRS = frozenset(
    {
        ("access", "key"),
        ("account", "key"),
        ("api", "key"),
        ("auth", "key"),
        ("client", "key"),
        ("connection", "string"),
        ("encryption", "key"),
        ("license", "key"),
        ("master", "key"),
        ("private", "key"),
        ("service", "key"),
        ("session", "key"),
        ("shared", "key"),
        ("signing", "key"),
        ("ssh", "key"),
        ("storage", "key"),
        ("subscription", "key"),
    }
)
_NOT_THE_VALUE = frozenset(
    [
        "path",
        "file",
        "dir",
        "directory",
        "name",
        "namespace",
        "ref",
        "url",
        "uri",
        "endpoint",
        "type",
        "mode",
        "enabled",
        "limit",
        "count",
        "size",
        "ttl",
        "expiry",
        "expiration",
        "provider",
        "header",
        "required",
        "format",
        "version",
        "length",
        "policy",
        "class",
        "prefix",
        "suffix",
        "budget",
    ]
)
_TOKENS_OF_TEXT = frozenset(
    [
        "max",
        "min",
        "stop",
        "eos",
        "bos",
        "pad",
        "unk",
        "special",
        "image",
        "video",
        "audio",
        "start",
        "end",
        "per",
        "num",
        "number",
        "first",
        "last",
        "mask",
        "sep",
        "cls",
    ]
)
_HARMLESS = re.compile(
    r"(?i)\s*(?:true|false|yes|no|on|off|none|null|nil|auto|default|n/a|[-+]?[0-9][0-9_.,]*(?:e[-+]?[0-9]+)?%?"
    r"|\$\([A-Za-z0-9_]+\)|\$\{[A-Za-z0-9_]+\}|<[^<>]*>|/(?:[\w.-]+/)*[\w.-]*)?\s*"
)


@lru_cache(maxsize=65536)
def names_credential(name: str) -> bool:
    """Return whether ``name`` (an environment variable, a key, an argument) names a credential's value."""
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _NOT_THE_VALUE:
        return False
    if _ALWAYS & {*words} or any(pair in _PAIRS for pair in pairwise(words)):
        return True
    return "token" in words and not _TOKENS_OF_TEXT & {*words}


def harmless_value(value: str) -> bool:
    """Return whether a value can be no credential whatever its name: a number, a switch, a reference, a file path."""
    return _HARMLESS.fullmatch(value) is not None
