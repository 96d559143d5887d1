"""An object on its way from v1alpha1 to v1alpha2: every step moves values and records their fates (pure).

A draft begins as the input itself. Steps name fields by their place in the *input*, wherever earlier steps have put
them by then. What no step touches stays where it is; whether it may is decided at the end by the table of its kind.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, field_path, get, get_str, has, leaves
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate
from aim_template_migration.mapping.recipes.ledger import Gap, LeafFate, Note, Path


def object_id(kind: str, namespace: str, name: str) -> str:
    """Return ``Kind/namespace/name``, without what is empty."""
    return "/".join(part for part in (kind, namespace, name) if part)


@dataclass(slots=True)
class Beside:
    """An object that is written beside the converted one.

    Attributes:
        value: the object.
        origins: where its parts come from in the input.
        above: it is written above, since the converted one refers to it.
    """

    value: JsonObject
    origins: dict[Path, Path | None] = field(default_factory=dict)
    above: bool = True

    @property
    def id(self) -> str:
        """``Kind/namespace/name``."""
        return id_of(self.value)

    def put(self, path: Path, value: Json) -> None:
        """Set a field."""
        _put(self.value, path, value)


def id_of(value: JsonObject) -> str:
    """Return the id of an object."""
    namespace, name = get_str(value, "metadata", "namespace") or "", get_str(value, "metadata", "name") or ""
    return object_id(get_str(value, "kind") or "", namespace, name)


class Draft:
    """The conversion of one object.

    Attributes:
        source: the input, which never changes.
        value: the output as it is so far.
        removed: the object is gone from the output.
        unchanged: the object is at v1alpha2 already, and nothing in it asks for a change.
        origins: places in the output whose content stands elsewhere in the input.
        beside: objects that are written beside it.
        gaps: values that are needed and not known.
        notes: what a person should know.
        place: the directory of a cluster or environment that the object stands in, empty where it is in none.
    """

    def __init__(self, source: JsonObject, table: FateTable, place: str = "") -> None:
        self.source = source
        self.place = place
        self.value: JsonObject = {key: copied(item) for key, item in source.items()}
        self.removed = False
        self.unchanged = False
        self.origins: dict[Path, Path | None] = {}
        self.beside: list[Beside] = []
        self.gaps: list[Gap] = []
        self.notes: list[Note] = []
        self._table = table
        self._stating_nothing = [
            (path, value) for path, value in leaves(source) if len(path) > 1 and path[0] == "spec" and is_empty(value)
        ]
        self._fates: dict[Path, LeafFate] = {}
        self._moved: dict[Path, Path] = {}

    @property
    def id(self) -> str:
        """Id of the output."""
        return id_of(self.value)

    @property
    def name(self) -> str:
        """Name of the object, empty where it has none."""
        return get_str(self.source, "metadata", "name") or ""

    @property
    def namespace(self) -> str:
        """Namespace of the object, empty where it has none."""
        return get_str(self.source, "metadata", "namespace") or ""

    def like(self, source: JsonObject) -> "Draft":
        """Return a draft of another object of the same kind, or of the same object anew."""
        return Draft(source, self._table, self.place)

    def given(self, *path: str | int) -> Json:
        """Return a value of the input."""
        return get(self.source, *path)

    def has(self, *path: str | int) -> bool:
        """Return whether the input has a field, even with a null value."""
        return has(self.source, *path)

    def where(self, source: Path) -> Path:
        """Return where a field of the input stands in the output by now."""
        for length in range(len(source), 0, -1):
            moved = self._moved.get(source[:length])
            if moved is not None:
                return (*moved, *source[length:])
        return source

    def move(self, source: Path, target: Path, *, fate: Fate | None = None, reason: str = "", advice: str = "") -> bool:
        """Carry a field to another place; return whether it was there and the place was free."""
        if not has(self.value, *self.where(source)):
            return False
        if not self.relocate(source, target):
            self.leave(
                source,
                f"{field_path(target)} is set already",
                f"keep one of {field_path(source)} and {field_path(target)}",
            )
            return False
        self._record(source, self.id, target, fate=fate, reason=reason, advice=advice)
        return True

    def relocate(self, source: Path, target: Path) -> bool:
        """Carry a field to another place, and leave what becomes of its contents to later steps."""
        here = self.where(source)
        if here == target:
            return True
        if not has(self.value, *here) or not self._is_free(target, here):
            return False
        if here[:-1] == target[:-1] and not isinstance(here[-1], int):
            _rename(_container(self.value, here), str(here[-1]), str(target[-1]))
        else:
            value = self._take_out(here)
            _put(self.value, target, value)
        self._moved[source] = target
        self.origins[target] = source
        return True

    def retype(self, source: Path, target: Path, value: Json, *, reason: str = "", advice: str = "") -> None:
        """Carry a field to another place with another value of the same meaning."""
        if self.move(source, target, fate=Fate.TYPED, reason=reason, advice=advice):
            _put(self.value, target, value)

    def give(self, source: Path, to: Beside, target: Path, *, keep: bool = False, reason: str = "") -> None:
        """Carry a field to an object beside this one; ``keep`` leaves it here as well."""
        value = get(self.value, *self.where(source))
        _put(to.value, target, copied(value))
        to.origins[target] = source
        if keep:
            return
        self._take_out(self.where(source))
        self._record(source, to.id, target, reason=reason)

    def drop(self, source: Path, reason: str = "", *, fate: Fate | None = Fate.DEFAULTED, target: Path = ()) -> None:
        """Leave out a field whose meaning is kept without it."""
        here = self.where(source)
        if has(self.value, *here):
            self._take_out(here)
            self._record(source, self.id if target else "", target, fate=fate, reason=reason)

    def take_out(self, source: Path) -> None:
        """Take out a field whose parts are accounted for one by one."""
        self._take_out(self.where(source))

    def account(
        self, source: Path, object_: str, target: Path, *, fate: Fate | None = None, reason: str = "", advice: str = ""
    ) -> None:
        """Record where the meaning of a field went that a step has moved or left out."""
        self._record(source, object_, target, fate=fate, reason=reason, advice=advice)

    def lose(self, source: Path, reason: str, advice: str, *, fate: Fate = Fate.REFUSED) -> None:
        """Leave out a field that has no place, and say so."""
        here = self.where(source)
        if has(self.value, *here):
            self._take_out(here)
            self._record(source, "", (), fate=fate, reason=reason, advice=advice, lost=True)

    def leave(self, source: Path, reason: str, advice: str = "", *, fate: Fate = Fate.NEEDS_DECISION) -> None:
        """Leave a field where it is, for a person to decide about."""
        self._record(source, "", (), fate=fate, reason=reason, advice=advice, lost=True)

    def is_accounted(self, source: Path) -> bool:
        """Return whether a step has recorded what became of a leaf of the input."""
        return source in self._fates

    def wrong_type(self, path: Path) -> tuple[str, str] | None:
        """Return which part of a leaf's path has another type than in v1alpha1, and an advice; None where none has."""
        misfit = self._table.misfit(path)
        where, value = field_path(misfit.path), self.given(*misfit.path)
        fits = shape_of(value) == misfit.expected
        if not misfit.expected or (fits and isinstance(value, str)):
            return None
        if fits:
            found = "boolean" if isinstance(value, bool) else "number"
            return f"{where} is text, and here it is a {found}", "put it in quotes"
        reason = f"{where} is {misfit.expected} in v1alpha1, and here it is {shape_of(value)}"
        return reason, f"write it as {misfit.expected}, or remove it"

    def put(self, target: Path, value: Json) -> None:
        """Set a field of the output, whatever stands there."""
        self.unchanged = False
        _put(self.value, target, value)

    def lead(self, container: Path, *keys: str) -> None:
        """Put keys of an object of the output first, in this order."""
        found = get(self.value, *container)
        if isinstance(found, dict):
            first = {key: found[key] for key in keys if key in found}
            rest = {key: item for key, item in found.items() if key not in first}
            found.clear()
            found.update({**first, **rest})

    def need(self, path: Path, message: str, *, near: Path = (), object_: str = "") -> None:
        """Say that a value is needed which nothing states."""
        self.gaps.append(Gap(object_ or self.id, path, near, message))

    def note(self, near: Path, message: str) -> None:
        """Say what a person should know."""
        self.notes.append(Note(near, message))

    def get(self, *path: str | int) -> Json:
        """Return a value of the output."""
        return get(self.value, *path)

    def finish(self) -> None:
        """Leave out what states nothing and has no place of the same name in v1alpha2."""
        for path, value in self._stating_nothing:
            if path in self._fates and not self._fates[path].lost:
                continue
            row = self._table.find(path, value)
            if row is None or row.fate is Fate.MAPPED or any(isinstance(key, int) for key in path):
                continue
            if is_empty(get(self.value, *self.where(path))):
                self.drop(path, "it states nothing")
            self._record(path, "", (), fate=Fate.DEFAULTED, reason="it states nothing")

    def fates(self) -> Iterator[LeafFate]:
        """Yield the fate of every leaf of the input, in document order, each once."""
        own = self.id
        for path, value in leaves(self.source):
            if self.unchanged:
                yield LeafFate(path, Fate.MAPPED, own, path, "the object stays as it is")
                continue
            yield self._fates.get(path) or self._untouched(path, value, own)

    def losses(self) -> Iterator[LeafFate]:
        """Yield the fates of the leaves that are lost."""
        for path, value in () if self.unchanged else leaves(self.source):
            fate = self._fates.get(path)
            if fate is None:
                row = self._table.find(path, value)
                if row is not None and row.fate is Fate.MAPPED:
                    continue  # most leaves stay
                fate = self._untouched(path, value, "")
            if fate.lost:
                yield fate

    def _untouched(self, path: Path, value: Json, own: str) -> LeafFate:
        row = self._table.find(path, value)
        here = self.where(path)
        if row is None:
            return LeafFate(path, Fate.NEEDS_DECISION, "", (), *self._why_unknown(path), lost=True)
        if row.fate is Fate.MAPPED and is_empty(value) and get(self.value, *here) != value:
            return LeafFate(path, Fate.DEFAULTED, own, here, "it states nothing, and the value is known otherwise")
        if row.fate is Fate.MAPPED:
            return LeafFate(path, row.fate, own, here, row.reason)
        reason = row.reason
        if row.fate not in (Fate.NEEDS_DECISION, Fate.REFUSED):
            reason = f"it can't be carried as it stands here: {row.reason}"
        return LeafFate(path, Fate.NEEDS_DECISION, "", (), reason, _advice(row), lost=True)

    def _record(
        self,
        source: Path,
        object_: str,
        target: Path,
        *,
        fate: Fate | None = None,
        reason: str = "",
        advice: str = "",
        lost: bool = False,
    ) -> None:
        for path, value in leaves(get(self.source, *source), source):
            row = self._table.find(path, value)
            if row is None and not target and not lost and value in ([], {}):
                # It states nothing and is left out, but it is no value of this field, so a person may have meant more.
                self._fates[path] = LeafFate(path, Fate.REFUSED, "", (), *self._why_unknown(path), lost=True)
                continue
            self._fates[path] = LeafFate(
                path,
                fate or (row.fate if row and row.fate is not Fate.NEEDS_DECISION else Fate.RENAMED),
                object_,
                (*target, *path[len(source) :]) if target else (),
                reason or (row.reason if row else "it is carried as it stands"),
                advice,
                lost,
            )

    def _why_unknown(self, path: Path) -> tuple[str, str]:
        """Return why the table does not know a leaf, and an advice."""
        unknown = field_path(self._table.misfit(path).path)
        reason = f"{unknown} is no field of v1alpha1 that is known, so nothing says what becomes of it"
        return self.wrong_type(path) or (reason, "remove it, or write its v1alpha2 form")

    def _is_free(self, target: Path, here: Path) -> bool:
        """Return whether a value can be put at ``target``: nothing is there, and every step on the way is an object."""
        node: Json = self.value
        for index, key in enumerate(target):
            if not isinstance(node, dict):
                return False
            if key not in node:
                return True
            if target[: index + 1] == here:
                # The value itself stands on the way and makes room when it is taken out.
                return index + 1 < len(target)
            node = node[str(key)]
        return False

    def _take_out(self, here: Path) -> Json:
        """Remove a value and every container that is empty without it."""
        parent = get(self.value, *here[:-1])
        value: Json = None
        if isinstance(parent, dict):
            value = parent.pop(str(here[-1]), None)
        elif isinstance(parent, list) and isinstance(here[-1], int):
            value = parent.pop(here[-1])
        if not parent and len(here) > 2:
            self._take_out(here[:-1])
        return value


def shape_of(value: Json) -> str:
    """Return what a value is, in the words of a table's expectations."""
    if value is None:
        return "null"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "a single value"


def copied(value: Json) -> Json:
    """Return a copy of a JSON value that shares nothing with it."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


def _advice(row: FieldFate) -> str:
    return f"state it in {row.target}" if row.target else "remove it"


def _container(value: JsonObject, path: Path) -> JsonObject:
    found = get(value, *path[:-1])
    return found if isinstance(found, dict) else {}


def _rename(container: JsonObject, old: str, new: str) -> None:
    """Rename a key and keep its place."""
    items = [(new if key == old else key, item) for key, item in container.items()]
    container.clear()
    container.update(items)


def _put(value: JsonObject, path: Path, item: Json) -> None:
    node: JsonObject = value
    for key in path[:-1]:
        below = node.setdefault(str(key), {})
        if not isinstance(below, dict):
            below = {}
            node[str(key)] = below
        node = below
    node[str(path[-1])] = item


def new_object(kind: Kind, name: str, namespace: str, spec: JsonObject) -> JsonObject:
    """Return a new object; without a name where none is known, so that the server refuses it."""
    metadata: JsonObject = {}
    if name:
        metadata["name"] = name
    if namespace and kind.namespaced:
        metadata["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": metadata, "spec": spec}
