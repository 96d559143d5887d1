"""How a world's YAML becomes manifests: building blocks with parameters, and small changes to what they give.

A block is a file with ``parameters`` (one without a value must be given), ``values`` (computed from parameters by the
functions below, unless given), ``use`` (further blocks) and ``objects``. In these, a text that is exactly ``${name}``
becomes the value itself, ``${name}`` within a text becomes its text, and a list item ``${*name}`` becomes the items of
that list.

Whoever uses a block may ``change`` its objects with JSON merge patches and ``drop`` objects. Both name objects by
``Kind``, for all of that kind in the block, or by ``Kind/name``; the pods, ReplicaSet and Deployment below an
InferenceService are one object, ``Workload``, which a change can make ``stale``: not up to date.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from aim_api import names
from aim_api.tree import Json, JsonObject, get_list, get_map, get_objects, get_str

_EXACT = re.compile(r"\$\{(\w+)\}")
_SPREAD = re.compile(r"\$\{\*(\w+)\}")
_CALL = re.compile(r"(\w+)\(([^()]*)\)")
_SIZE = re.compile(r"(\d+)Gi")

Load = Callable[[str], JsonObject]


class WorldError(ValueError):
    """A world or block that cannot be read; the message is one sentence that names the file and the place."""


def expand(use: JsonObject, load: Load) -> list[JsonObject]:
    """Return the manifests of one use of a block; ``load`` reads a block by its name.

    Raises:
        WorldError: a parameter is missing or unknown, or a change names an object that the block does not have.
    """
    block = get_str(use, "block") or ""
    definition = load(block)
    values = _values(block, definition, get_map(use, "with"))
    objects: list[JsonObject] = []
    for inner in get_objects(definition, "use"):
        objects += expand(_filled(inner, values, block), load)
    objects += [_filled(item, values, block) for item in get_objects(definition, "objects")]
    return _changed(block, objects, _filled(use, values, block))


def merged(target: Json, patch: Json) -> Json:
    """Return ``target`` with a JSON merge patch applied."""
    if not isinstance(patch, dict):
        return patch
    result: JsonObject = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def _values(block: str, definition: JsonObject, given: JsonObject) -> JsonObject:
    parameters, formulas = get_map(definition, "parameters"), get_map(definition, "values")
    unknown = sorted(given.keys() - parameters.keys() - formulas.keys())
    if unknown:
        raise WorldError(f"block {block} has no parameter {unknown[0]}; it has: {', '.join(parameters)}.")
    values = parameters | given
    missing = sorted(key for key, value in values.items() if value is None)
    if missing:
        raise WorldError(f"block {block} needs a value for parameter {missing[0]}.")
    for key, formula in formulas.items():
        if key not in given:
            values[key] = _computed(block, str(formula), values)
    return values


def _computed(block: str, formula: str, values: JsonObject) -> Json:
    call = _CALL.fullmatch(formula)
    function = _FUNCTIONS.get(call.group(1)) if call else None
    if call is None or function is None:
        raise WorldError(f"block {block}: {formula!r} is no call of: {', '.join(_FUNCTIONS)}.")
    arguments = [item.strip() for item in call.group(2).split(",")]
    return function([str(values.get(item, item)) for item in arguments])


def _filled(value: Json, values: Mapping[str, Json], block: str) -> JsonObject:
    filled = _fill(value, values, block)
    assert isinstance(filled, dict)  # an object in, an object out
    return filled


def _fill(value: Json, values: Mapping[str, Json], block: str) -> Json:
    if isinstance(value, dict):
        return {_text(key, values, block): _fill(item, values, block) for key, item in value.items()}
    if isinstance(value, list):
        return _fill_list(value, values, block)
    if isinstance(value, str):
        exact = _EXACT.fullmatch(value)
        return _value(exact.group(1), values, block) if exact else _text(value, values, block)
    return value


def _fill_list(items: list[Json], values: Mapping[str, Json], block: str) -> list[Json]:
    result: list[Json] = []
    for item in items:
        spread = _SPREAD.fullmatch(item) if isinstance(item, str) else None
        if spread is None:
            result.append(_fill(item, values, block))
            continue
        listed = _value(spread.group(1), values, block)
        result += listed if isinstance(listed, list) else [listed]
    return result


def _text(text: str, values: Mapping[str, Json], block: str) -> str:
    return _EXACT.sub(lambda found: str(_value(found.group(1), values, block)), text)


def _value(key: str, values: Mapping[str, Json], block: str) -> Json:
    if key not in values:
        raise WorldError(f"block {block}: ${{{key}}} is neither a parameter nor a computed value.")
    return values[key]


def _changed(block: str, objects: Sequence[JsonObject], use: JsonObject) -> list[JsonObject]:
    changes = get_map(use, "change")
    dropped = {str(item) for item in get_list(use, "drop")}
    known = {name for item in objects for name in _names(item)}
    for wanted in [*changes, *sorted(dropped)]:
        if wanted not in known:
            raise WorldError(f"block {block} has no object {wanted}; it has: {', '.join(sorted(known))}.")
    result: list[JsonObject] = []
    for item in objects:
        if dropped & set(_names(item)):
            continue
        patched: Json = item
        for name in _names(item):
            patched = merged(patched, changes.get(name, {}))
        assert isinstance(patched, dict)  # a merge patch of an object is an object
        result.append(patched)
    return result


def _names(manifest: JsonObject) -> tuple[str, str]:
    """Return the names by which changes call an object: ``Kind`` and ``Kind/name``."""
    workload = get_str(manifest, "workload")
    if workload is not None:
        return "Workload", f"Workload/{workload.rpartition('/')[2]}"
    kind = get_str(manifest, "kind") or ""
    return kind, f"{kind}/{get_str(manifest, 'metadata', 'name') or ''}"


def _gibibytes(size: str) -> int:
    found = _SIZE.fullmatch(size)
    if found is None:
        raise WorldError(f"size {size} is not in whole Gi, for example 40Gi.")
    return int(found.group(1))


_FUNCTIONS: dict[str, Callable[[list[str]], Json]] = {
    "inferenceServiceName": lambda arguments: names.inference_service_name(arguments[0], arguments[1]),
    "olderInferenceServiceName": lambda arguments: names.derive_name([arguments[0]], [arguments[1]]),
    "sharedTemplateCacheName": lambda arguments: names.shared_template_cache_name(arguments[0], arguments[1]),
    "sharedProfileCacheName": lambda arguments: names.shared_profile_cache_name(*arguments[:3]),
    "runtimeName": lambda arguments: names.runtime_name(arguments[0]),
    "artifactName": lambda arguments: names.artifact_name(arguments[0], [], arguments[1], "".join(arguments[2:])),
    "labelValue": lambda arguments: names.label_value(arguments[0]),
    "text": lambda arguments: arguments[0],
    "multiple": lambda arguments: f"{int(arguments[0]) * int(arguments[1])}{''.join(arguments[2:])}",
    "withHeadroom": lambda arguments: f"{math.ceil(_gibibytes(arguments[0]) * 1.1)}Gi",
    "displaySize": lambda arguments: f"{_gibibytes(arguments[0])} GiB",
}
