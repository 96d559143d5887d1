"""Every object that a unit would write, as a diff that reads as YAML (pure)."""

from dataclasses import dataclass, field

from aim_api.kinds import AIM_SERVICE
from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import Json, JsonObject, get_str, key_of_pointer_part
from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.rendering.plan_view import created_targets
from aim_template_migration.cli.rendering.text import marked
from aim_template_migration.documents.backup_yaml import emit
from aim_template_migration.documents.plan import CutOver, Plan, ProtectArtifact, Unit


@dataclass(slots=True)
class _Node:
    """One place of an object that a patch changes: ``mark`` and ``lines`` where it ends, children where it goes on."""

    mark: str = ""
    lines: list[str] = field(default_factory=list)
    children: dict[str, "_Node"] = field(default_factory=dict)


def proposal_lines(plan: Plan, unit: Unit, paint: Paint, width: int) -> list[str]:
    """Return the diff of every object that the unit creates or patches, in the order of its steps."""
    lines: list[str] = []
    bodies = {target.id: target.body for target in plan.targets}
    for target in created_targets(unit):
        if target in bodies:
            lines += _titled(target, "created only if absent", marked("+", _yaml(bodies[target], width)))
    for step in unit.steps:
        if isinstance(step, ProtectArtifact):
            lines += _titled(step.artifact.id, "patched", _protection_lines(width))
        if isinstance(step, CutOver):
            how = f"patched at {AIM_SERVICE.api_version}, generation {step.generation} to {step.pinned_generation}"
            lines += _titled(step.service.id, how, patch_lines(step.operations, _removed(unit), width))
    return [_painted(line, paint) for line in lines]


def patch_lines(operations: tuple[JsonObject, ...], removed: dict[str, str], width: int) -> list[str]:
    """Return the diff of a JSON Patch; ``removed`` says what is known of values that it removes, by path."""
    root = _Node()
    for operation in operations:
        path = get_str(operation, "path") or ""
        *parents, last = (key_of_pointer_part(part) for part in path.split("/")[1:])
        node = root
        for part in parents:
            node = node.children.setdefault(part, _Node())
        if operation.get("op") == "remove":
            known = [f"# {removed[path]}"] if path in removed else []
            node.children[last] = _Node("-", [*known, f"{last}: …"])
        else:
            node.children[last] = _Node("+", _yaml({last: operation.get("value")}, width))
    return list(_node_lines(root, ""))


def _node_lines(node: _Node, indent: str) -> list[str]:
    lines: list[str] = []
    for key, child in node.children.items():
        if child.mark:
            lines += marked(child.mark, [f"{indent}{line}" for line in child.lines])
        else:
            lines += [f"  {indent}{key}:", *_node_lines(child, f"{indent}  ")]
    return lines


def _protection_lines(width: int) -> list[str]:
    operation: JsonObject = {
        "op": "add",
        "path": f"/metadata/annotations/{EVICTION_PROTECTED.replace('/', '~1')}",
        "value": "true",
    }
    return patch_lines((operation,), {}, width)


def _removed(unit: Unit) -> dict[str, str]:
    """The service's live spec stands in no plan; the template that it resolved to is pinned."""
    templates = [pin.reference.id for pin in unit.pins if pin.role == "template"]
    return {"/spec/template": f"resolves to {templates[0]}"} if templates else {}


def _yaml(value: Json, width: int) -> list[str]:
    """Return a value as YAML lines; a long scalar goes on its own line below its key, which reads to the same value."""
    return [part for line in emit(value).splitlines() for part in _folded(line, width - 6)]


def _folded(line: str, width: int) -> list[str]:
    key, separator, value = line.partition(": ")
    if len(line) <= width or not separator or not value or value[0] in "[{":
        return [line]
    depth = len(key) - len(key.lstrip(" -"))
    return [f"{key}:", f"{' ' * (depth + 2)}{value}"]


def _titled(object_id: str, how: str, lines: list[str]) -> list[str]:
    return ["", object_id, f"({how})", *lines]


def _painted(line: str, paint: Paint) -> str:
    if line.startswith("+"):
        return paint(line, "green")
    return paint(line, "red") if line.startswith("-") else line
