"""What a server would refuse in the objects of a conversion although nothing that was said explains it (pure).

The recipes know what they leave open. What else is wrong stood in the input before, or no recipe thought of it; the
rules of the definitions know it all, so that no conversion ends well that a server refuses.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from aim_api.kinds import LEGACY_VERSION
from aim_api.tree import Json, JsonObject, Key, get, get_str
from aim_schema.errors import ROOT, TYPE_INVALID
from aim_template_migration.manifests.list_rules import list_findings
from aim_template_migration.manifests.metadata_rules import metadata_findings
from aim_template_migration.manifests.objects import is_list
from aim_template_migration.manifests.reading import TEMPLATE_MARK, Document
from aim_template_migration.manifests.validating import definition, resolve_field, server_errors
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from aim_template_migration.mapping.recipes.ledger import Gap, LeafFate, Path

_REFERENCE = "modelRef"
_NOT_CHECKED = "rules were not checked"
_CONTROL = "if|else|end|range|with|define|block|template"
_EXPRESSION = re.compile(rf"{{{{(?!-?\s*(?:(?:{_CONTROL})\b|/\*))[^{{}}]*}}}}")
"""An expression of a template that stands for a text."""


@dataclass(frozen=True, slots=True)
class _Output:
    """An object of a conversion.

    Attributes:
        value: the object.
        origins: where its parts come from in the input.
        open: its fields that are left to be decided, or that need a value.
    """

    value: JsonObject
    origins: dict[Path, Path | None]
    open: "_Paths"


class _Paths:
    """Paths, asked for the ones that another path is, is above or is below of."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = frozenset(paths)
        self._above = frozenset(path[:length] for path in self._paths for length in range(len(path)))

    def overlap(self, path: Path) -> bool:
        """Return whether one of the paths and this one are the same, or one is above the other."""
        return path in self._above or any(path[:length] in self._paths for length in range(len(path) + 1))


def unexplained(
    draft: Draft, fates: Sequence[LeafFate], built: Callable[[], Sequence[JsonObject]] = tuple
) -> Iterator[Gap]:
    """Yield what keeps a server from taking the objects of a conversion and is not said elsewhere.

    Args:
        draft: the conversion of one object.
        fates: the fates of its leaves, at least of those that are lost.
        built: returns what Kustomizations make of the converted object; what a patch completes is no fault.
    """
    if draft.value == draft.source and not draft.removed and not draft.beside and not _has_moved_on(draft):
        return
    without_name = any(gap.path == ("metadata", "name") for gap in draft.gaps)
    said: set[tuple[Path, str]] = set()
    for output in _outputs(draft, fates):
        for path, message in _bad_metadata(output.value):
            # What is written beside has the namespace of the object, and so its fault as well.
            if (path, message) not in said and not output.open.overlap(path):
                said.add((path, message))
                yield Gap(id_of(output.value), path, path, message)
        refused = list(_refused(output, draft.source))
        variants = (
            [replace(output, value=value) for value in built()] if refused and output.value is draft.value else []
        )
        still = [set(_refused(variant, draft.source)) for variant in variants]
        for path, message in refused:
            refers = without_name and _REFERENCE in path
            completed = any((path, message) not in faults for faults in still)
            if not refers and not completed and not output.open.overlap(path):
                yield Gap(id_of(output.value), path, _origin(output, path), message)


def refused_items(document: Document) -> Iterator[tuple[Path, str]]:
    """Yield the items for which kubectl refuses a list, whatever the conversion makes of the others."""
    value = document.value
    if isinstance(value, dict) and is_list(value):
        # An item of another kind than that of the list makes a mixed list of it when it is written.
        for found in list_findings(value, lambda _kind, _version, _item: []):
            if found.path[-1] != "kind":
                yield found.path, f"{found.message}; {found.advice}" if found.advice else found.message


def _has_moved_on(draft: Draft) -> bool:
    """Return whether an object that stays at v1alpha1 is of a kind that has moved on."""
    kind, version = get_str(draft.source, "kind") or "", (get_str(draft.source, "apiVersion") or "").partition("/")[2]
    return version == LEGACY_VERSION and definition(kind, "v1alpha2") is not None


def _outputs(draft: Draft, fates: Sequence[LeafFate]) -> Iterator[_Output]:
    lost = [fate.path for fate in fates if fate.lost]
    needed: dict[str, list[Path]] = {}
    for gap in draft.gaps:
        needed.setdefault(gap.object, []).append(gap.path)
    if not draft.removed:
        own = needed.get(draft.id, ())
        yield _Output(draft.value, draft.origins, _Paths([*(draft.where(path) for path in lost), *own]))
    left = _Paths(lost)
    for made in draft.beside:
        moved = [target for target, source in made.origins.items() if source is not None and left.overlap(source)]
        yield _Output(made.value, made.origins, _Paths([*moved, *needed.get(made.id, ())]))


def _bad_metadata(value: JsonObject) -> Iterator[tuple[Path, str]]:
    rendered: dict[Path, str] | None = None
    for found in metadata_findings(value):
        if TEMPLATE_MARK not in f"{found.path[-1:]}{get(value, *found.path)}":
            yield found.path, f"a server refuses this: {_without_secrets(found.field, found.message)}"
            continue
        if rendered is None:
            stand_in = {**value, "metadata": _with_letters(value.get("metadata"))}
            rendered = {one.path: one.message for one in metadata_findings(stand_in) if one.reason != TYPE_INVALID}
        if found.path in rendered and TEMPLATE_MARK not in rendered[found.path]:
            message = _without_secrets(found.field, rendered[found.path])
            yield found.path, f"a server refuses this whatever its expression renders to: {message}"


def _with_letters(value: Json) -> Json:
    """Return metadata with a letter for each expression of a template that renders to something.

    A letter is what fits best into names and labels: a text that is refused with it has other characters that are
    wrong. What a template may leave out is not judged.
    """
    if isinstance(value, dict):
        return {key: _with_letters(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_letters(item) for item in value]
    return _EXPRESSION.sub("x", value) if isinstance(value, str) else value


def _refused(output: _Output, source: JsonObject) -> Iterator[tuple[Path, str]]:
    value = output.value
    kind, version = get_str(value, "kind") or "", (get_str(value, "apiVersion") or "").partition("/")[2]
    found = definition(kind, version)
    if found is None:
        return
    unknown, errors = server_errors(value, found)
    for field in unknown:
        if not field.startswith("metadata."):
            yield resolve_field(value, field), f'a server refuses the unknown field "{field}"; remove it'
    for error in errors:
        if _NOT_CHECKED in error.message:
            continue  # what keeps rules from being checked is an error of its own
        field = "" if error.field == ROOT else error.field
        path = _named(value, field)
        # An object in place of a text that the input has not is the recipes' own, where they leave something open.
        mark = error.reason == TYPE_INVALID and get(value, *path) == {} != get(source, *_origin(output, path))
        if not mark:
            yield path, f"a server refuses this: {_without_secrets(field, error.message)}"


def _named(value: JsonObject, field: str) -> tuple[Key, ...]:
    """Return the path of a field, with what is missing at its end."""
    path = resolve_field(value, field)
    missing = field.rpartition(".")[2]
    return path if not missing or (path and path[-1] == missing) or "[" in missing else (*path, missing)


def _without_secrets(field: str, message: str) -> str:
    # It is costly to import, and seldom needed.
    from aim_template_migration.planning.secret_scan import redact_about  # noqa: PLC0415

    return redact_about(field, message)


def _origin(output: _Output, path: Path) -> Path:
    """Return where the input has what stands at a path of an output."""
    for length in range(len(path), 0, -1):
        source = output.origins.get(path[:length])
        if source is not None:
            return (*source, *path[length:])
    return path
