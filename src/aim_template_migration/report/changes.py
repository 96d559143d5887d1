"""What a unit makes of each object: lines before and after, from plan and backup (pure).

The plan holds only what changes; what stands around it comes from the sanitised backup, where that has the object.
"""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import yaml

from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import Json, JsonObject, get, get_str
from aim_template_migration.applying.patching import ANNOTATIONS, apply_operations, fit_operations
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.plan import (
    CreateProfile,
    CreateProfileCache,
    CutOver,
    ProtectArtifact,
    Reference,
    Unit,
)
from aim_template_migration.inspecting.backup import Backup
from aim_template_migration.report.model import ChangeView

Lines = tuple[tuple[str, str], ...]
_PROTECTION: JsonObject = {
    "op": "add",
    "path": f"{ANNOTATIONS}/{EVICTION_PROTECTED.replace('/', '~1')}",
    "value": "true",
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where the parts of a change come from: bodies of targets by id, and the backup."""

    targets: dict[str, JsonObject]
    backup: Backup


def changes_of(unit: Unit, around: Surroundings) -> Iterator[ChangeView]:
    """Yield the difference that each writing step of a unit makes, in the order of its steps."""
    for step in unit.steps:
        match step:
            case CreateProfile(target=target) | CreateProfileCache(target=target) if target in around.targets:
                added = emit(around.targets[target]).splitlines()
                yield ChangeView(target, "created only if absent", tuple(("+", line) for line in added))
            case ProtectArtifact(artifact=artifact):
                yield ChangeView(artifact.id, "patched", _patched(artifact, (_PROTECTION,), around.backup))
            case CutOver(service=service, operations=operations):
                how = f"patched at {service.api_version}, generation {step.generation} to {step.pinned_generation}"
                yield ChangeView(service.id, how, _patched(service, operations, around.backup))
            case _:
                pass


def difference(before: Sequence[str], after: Sequence[str]) -> Lines:
    """Return both texts as one, line by line, what went marked ``-`` and what came marked ``+``."""
    lines: list[tuple[str, str]] = []
    for what, low, high, new_low, new_high in difflib.SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if what == "equal":
            lines += [(" ", line) for line in before[low:high]]
        else:
            lines += [("-", line) for line in before[low:high]]
            lines += [("+", line) for line in after[new_low:new_high]]
    return tuple(lines)


def _patched(reference: Reference, operations: Sequence[JsonObject], backup: Backup) -> Lines:
    before = _backed_up(reference, backup)
    if before is not None:
        try:
            after = apply_operations(before, fit_operations(before, operations))
        except ValueError:  # the object was not what the patch is for when it was backed up
            return _bare(operations)
        return difference(_text(before), _text(after))
    return _bare(operations)


def _backed_up(reference: Reference, backup: Backup) -> JsonObject | None:
    document = backup.get((reference.kind, reference.namespace, reference.name))
    try:
        read: Json = yaml.load(document, Loader=yaml.CSafeLoader) if document else None
    except yaml.YAMLError:
        return None
    return read if isinstance(read, dict) else None


def _text(obj: JsonObject) -> list[str]:
    """Return what a patch can change; the name stands in the heading, and the API version is the reader's choice."""
    shown: JsonObject = {}
    if annotations := get(obj, "metadata", "annotations"):
        shown["metadata"] = {"annotations": annotations}
    return emit({**shown, "spec": obj.get("spec")}).splitlines()


def _bare(operations: Sequence[JsonObject]) -> Lines:
    """Return the operations alone, for an object that no backup holds."""
    lines: list[tuple[str, str]] = []
    for operation in operations:
        path = get_str(operation, "path") or ""
        if operation.get("op") == "remove":
            lines.append(("-", path))
        else:
            lines.append(("+", f"{path}: {msgspec.json.encode(operation.get('value')).decode()}"))
    return tuple(lines)
