"""Whether a name says that its value is a credential (pure).

AIM and KServe keep credentials in environment variables, engine arguments and annotations, whose names say more than
the values do: a short password looks like any other word.
"""

import re
from functools import lru_cache
from itertools import pairwise

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS = _words("pwd passcode secret secrets accesskey authtoken bearer authorization dockerconfigjson pat")
_INSIDE = ("password", "passwd", "passphrase", "credential", "apikey", "secretkey")
_KINDS_OF_KEY = _words(
    "access account api auth client encryption license master private service session shared signing ssh storage"
    " subscription"
)
_NOT_THE_VALUE = _words(
    "path file dir directory name namespace ref url uri endpoint type mode enabled limit count size ttl expiry"
    " expiration provider header required format version length policy class prefix suffix budget"
)
_TEXT_TOKENS = _words("max min stop eos bos pad unk special image video audio start end per num number first last")
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
    if _ALWAYS & {*words} or any(part in word for word in words for part in _INSIDE):
        return True
    pairs = list(pairwise(words))
    if ("connection", "string") in pairs or any(kind in _KINDS_OF_KEY and key == "key" for kind, key in pairs):
        return True
    return "token" in words and not _TEXT_TOKENS & {*words}


def harmless_value(value: str) -> bool:
    """Return whether a value can be no credential whatever its name: a number, a switch, a reference, a file path."""
    return _HARMLESS.fullmatch(value) is not None
