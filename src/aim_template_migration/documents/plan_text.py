"""The text of ``plan.json`` in pieces, so that a plan of any size is never in memory as a whole (pure)."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from aim_template_migration.documents.plan import Plan, Target, Unit

_ENCODER = msgspec.json.Encoder()
_BEFORE, _AFTER = len(b"[\n  ["), len(b"\n  ]\n]")


def item_text(item: Unit | Target) -> bytes:
    """Return a unit or a target as it stands in its list in the plan, behind a comma."""
    text = msgspec.json.format(_ENCODER.encode([[item]]), indent=2)  # as deep in lists as it is in the plan
    return b"," + text[_BEFORE:-_AFTER]


def plan_text(head: Plan, units: Iterable[bytes], targets: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the text of a plan.

    Args:
        head: the plan without units and targets.
        units: the texts of all units one after the other, cut anywhere.
        targets: the texts of all targets in the same way.
    """
    text = msgspec.json.format(_ENCODER.encode(head), indent=2)
    # No string holds a line break, so that these stand at the top of the document alone.
    before, _, rest = text.partition(b'\n  "units": []')
    between, _, after = rest.partition(b'\n  "targets": []')
    yield before + b'\n  "units": '
    yield from _list_text(units)
    yield between + b'\n  "targets": '
    yield from _list_text(targets)
    yield after + b"\n"


def content_digest(head: Plan, units: Iterable[bytes], targets: Iterable[bytes]) -> str:
    """Return the SHA-256 of a plan's text without itself, its id and its time: equal for the same live state."""
    content = msgspec.structs.replace(head, content_digest="", plan_id="", generated_at="")
    digest = hashlib.sha256()
    for piece in plan_text(content, units, targets):
        digest.update(piece)
    return digest.hexdigest()


def _list_text(items: Iterable[bytes]) -> Iterator[bytes]:
    pieces = iter(items)
    first = next(pieces, b"")
    if not first:
        yield b"[]"
        return
    yield b"[" + first[1:]
    yield from chain(pieces, (b"\n  ]",))
