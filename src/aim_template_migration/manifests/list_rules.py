"""What kubectl demands of a list before it sends any of its objects: it reads every item by the list's head.

Source: the answers of kubectl 1.32 to lists of all forms.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aim_api.kinds import AIM_GROUP, AIM_KINDS
from aim_api.tree import Json, JsonObject, Key, get_list, get_str
from aim_schema.errors import REQUIRED
from aim_template_migration.manifests.objects import is_list

Misfits = Callable[[str, str, JsonObject], list[str] | None]
"""Returns what is wrong with an object as one of a kind and version; None where no definition serves those."""

NOT_AN_OBJECT = "NotAnObject"
UNKNOWN_KIND = "UnknownKind"
LIST_HEAD = "ListHead"
_ANY_LIST = "name the list apiVersion: v1 and kind: List, and give every item its own apiVersion and kind"
_VERSIONS = frozenset(kind.version for kind in AIM_KINDS)


@dataclass(frozen=True, slots=True)
class ListFinding:
    """Why kubectl refuses a list.

    Attributes:
        path: where in the list.
        reason: a word of this module.
        message: what is wrong.
        advice: what to do; empty where nothing is known.
    """

    path: tuple[Key, ...]
    reason: str
    message: str
    advice: str = ""


def holds_aim_objects(value: Json) -> bool:
    """Return whether a value is an object of the AIM API, or a list with one in it, be it a list without a head."""
    if isinstance(value, list):
        return any(map(holds_aim_objects, value))
    if not isinstance(value, dict):
        return False
    return is_aim_kind(value) or (is_list(value) and holds_aim_objects(value["items"]))


def is_aim_kind(value: JsonObject) -> bool:
    """Return whether an object says that it is of the AIM API; without apiVersion its kind says so."""
    api_version, kind = get_str(value, "apiVersion") or "", get_str(value, "kind") or ""
    if api_version:
        return api_version.partition("/")[0] == AIM_GROUP
    return kind.removesuffix("List") in {known.name for known in AIM_KINDS}


def list_findings(value: JsonObject, misfits: Misfits) -> Iterator[ListFinding]:
    """Yield why kubectl refuses a list that holds objects of the AIM API, or is one of their kinds."""
    kind, api_version = get_str(value, "kind") or "", get_str(value, "apiVersion") or ""
    group, _, version = api_version.partition("/")
    own = kind.removesuffix("List")
    ours = group == AIM_GROUP
    if ours and (misfits(own, version, {}) is None if own else version not in _VERSIONS):
        yield ListFinding(
            ("kind",), UNKNOWN_KIND, f"no matches for kind {kind!r} in version {api_version!r}", _ANY_LIST
        )
        return
    for index, item in enumerate(get_list(value, "items")):
        path: tuple[Key, ...] = ("items", index)
        if not isinstance(item, dict):
            yield ListFinding(path, NOT_AN_OBJECT, "an item of a list must be an object; kubectl refuses the list")
        elif is_list(item):
            yield ListFinding(path, LIST_HEAD, "kubectl refuses a list in a list", "put its items into the outer one")
        elif not is_aim_kind(item) and (missing := _missing(item, own)):
            yield ListFinding(path, REQUIRED, f"Required value: {missing} not set; kubectl refuses the list")
        elif own and not _is_of(item, kind, api_version):
            wrong = misfits(own, version, item) if ours else ["an object of another API"]
            if wrong:
                message = f"kubectl reads the items of {kind} as {own}, and this is none: {wrong[0]}"
                yield ListFinding((*path, "kind"), LIST_HEAD, message, _ANY_LIST)


def _missing(item: JsonObject, own: str) -> str:
    """Return what an item lacks by which it would be known; one that lacks both takes them from a typed list."""
    missing = [field for field in ("apiVersion", "kind") if not get_str(item, field)]
    return "" if own and len(missing) == 2 else " and ".join(missing)


def _is_of(item: JsonObject, kind: str, api_version: str) -> bool:
    """Return whether an item is of its list's kind, as it is if it does not say what it is."""
    own = get_str(item, "kind") or "", get_str(item, "apiVersion") or ""
    return not any(own) or own == (kind.removesuffix("List"), api_version)
