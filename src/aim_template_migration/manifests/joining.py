"""Several files as one stream that kubectl reads whole (pure).

kubectl takes a stream for JSON by its first character and then stops at the first YAML document; in a stream of YAML it
reads one JSON value between two separators and passes over any other without a word (seen with kubectl 1.32).
"""

from collections.abc import Sequence
from itertools import pairwise

from aim_template_migration.manifests.reading import read_manifest

_SEPARATOR = "---\n"


def joined(texts: Sequence[str]) -> str:
    """Return the texts of files one after the other; that of a single file stays as it is.

    Args:
        texts: text of each file, without byte order mark.
    """
    parts = [text for text in texts if text]
    if len(parts) < 2:
        return "".join(parts)
    pieces = [_SEPARATOR] if _is_json(parts[0]) else []
    for number, text in enumerate(parts):
        if number:
            pieces.append("" if pieces[-1].endswith("\n") else "\n")
            pieces.append("" if text.startswith("---") else _SEPARATOR)
        pieces.append(_separated(text) if _is_json(text) else text)
    return "".join(pieces)


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _separated(text: str) -> str:
    """Put separators between the values of a JSON text, where it has several."""
    documents = read_manifest(text.encode()).documents
    if len(documents) < 2 or not all(document.json for document in documents):
        return text
    places = [0, *(document.start for document in documents[1:]), len(text)]
    return _SEPARATOR.join(f"{text[start:end].rstrip()}\n" for start, end in pairwise(places))
