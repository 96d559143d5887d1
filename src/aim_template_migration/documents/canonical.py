"""One byte sequence per JSON value, and digests over it.

Digests are taken over sanitised trees only, since the digest of a short secret can be guessed.
"""

import hashlib

import msgspec

from aim_api.tree import Json

_CANONICAL = msgspec.json.Encoder(order="sorted")


def canonical_bytes(value: Json) -> bytes:
    """Return ``value`` as compact JSON with sorted keys: equal values give equal bytes."""
    return _CANONICAL.encode(value)


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical bytes of ``value``, as 64 lower-case hex digits."""
    return digest_bytes(canonical_bytes(value))


def document_digest(document: msgspec.Struct) -> str:
    """Return the SHA-256 of a document's canonical JSON, without building its plain values first."""
    return digest_bytes(_CANONICAL.encode(document))


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of ``data``, as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()
