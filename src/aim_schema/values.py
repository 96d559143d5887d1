"""Value validation: types, bounds, formats, enums, required keys and the logical combinations.

A schema becomes closures once. Beside its findings every check counts how many checks took place, because the API
server reports the alternative of ``anyOf`` or ``oneOf`` that got furthest.
"""

from collections.abc import Callable

from aim_api.tree import Json
from aim_schema import formats, problems
from aim_schema.nodes import Node
from aim_schema.paths import MapKey, Path, value_name
from aim_schema.problems import Problem
from aim_schema.scalars import Part, is_whole, number_part, string_part

Check = Callable[[Json, Path, list[Problem]], int]
"""Checks one value, appends what it finds and returns how many checks took place."""

_JSON_TYPES: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    list: "array",
    dict: "object",
}
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_GO_FORMATS = {"integer": "int64", "number": "float64"}


def compile_check(node: Node) -> Check:
    """Return the check of a value against a schema."""
    combined = _combinations(node)
    parts = _parts(node)
    check_type = _type_check(node)
    check_enum = _enum_check(node)
    accepted = frozenset(kind for name in node.types for kind in _PYTHON_TYPES.get(name, ()))
    typed = bool(node.types) or bool(formats.checked(node.format, ""))
    base = 5 if typed else 4

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        if value is None:
            if check_enum is not None:
                check_enum(value, path, found)
            return check_type(value, path, found)
        count = base
        kind = type(value)
        if kind in accepted:
            count += 1
        elif typed:
            count += check_type(value, path, found)
        if combined is not None:
            count += combined(value, path, found)
        part = parts.get(kind, 0)
        count += part if isinstance(part, int) else part(value, path, found)
        if check_enum is not None:
            check_enum(value, path, found)
        return count

    return check


def unconstrained(node: Node) -> tuple[type, int] | None:
    """Return the Python type for which nothing can fail and the number of checks, for plain scalars, else None."""
    kinds = _PYTHON_TYPES.get(node.type, ())
    plain = not (node.enum or node.any_of or node.all_of or node.one_of or node.negated or node.int_or_string)
    if not plain or node.type not in ("string", "boolean"):
        return None
    part = _parts(node).get(kinds[0], 0)
    return (kinds[0], 6 + part) if isinstance(part, int) else None


def _parts(node: Node) -> dict[type, Part | int]:
    number = number_part(node)
    return {str: string_part(node), int: number, float: number, list: _list_part(node), dict: _object_part(node)}


def _type_check(node: Node) -> Check:
    """Return the check of a value that is not of the plain type: null, a float for an integer, or a wrong type."""
    expected = ",".join(node.types)
    name = formats.checked(node.format, node.types[0] if len(node.types) == 1 else "")

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        if value is None:
            if not node.types or node.nullable:
                return 1
            found.append(problems.wrong_type(path, expected, "null"))
            return 0
        actual = _JSON_TYPES[type(value)]
        if isinstance(value, float) and "integer" in node.types and is_whole(value):
            return 1
        if name and not isinstance(value, str | list):
            found.append(problems.wrong_type(path, name, _GO_FORMATS.get(actual, "")))
            return 0
        if name and not {"integer", "number"} & set(node.types):
            return 1
        found.append(problems.wrong_type(path, expected, actual))
        return 0

    return check


def _enum_check(node: Node) -> Check | None:
    if not node.enum:
        return None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        if not any(_same(value, allowed) for allowed in node.enum):
            found.append(problems.not_supported(path, value, node.enum))
        return 0

    return check


def _same(value: Json, allowed: Json) -> bool:
    """Null is never equal, and true is not 1; numbers are converted to the enum's kind first, as in the API server."""
    if value is None or allowed is None or isinstance(value, bool) != isinstance(allowed, bool):
        return False
    if isinstance(value, float) and isinstance(allowed, int):
        return int(value) == allowed
    return value == allowed


def _list_part(node: Node) -> Part | int:
    limits = node.limits
    if node.items is None and limits.min_items is None and limits.max_items is None:
        return 2
    check_item = compile_check(node.items) if node.items is not None else None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        assert isinstance(value, list)
        count = 2
        if check_item is not None:
            for index, item in enumerate(value):
                count += check_item(item, (path, index), found)
        if limits.min_items is not None and len(value) < limits.min_items:
            found.append(problems.unfit(path, len(value), f"have at least {limits.min_items} items"))
        if limits.max_items is not None and len(value) > limits.max_items:
            found.append(problems.too_many(path, len(value), limits.max_items, "items"))
        return count

    return check


def _object_part(node: Node) -> Part:
    limits, required = node.limits, node.required
    known = {
        key: (compile_check(below), *(unconstrained(below) or (None, 0))) for key, below in node.properties.items()
    }
    closed = node.additional is False
    check_further = compile_check(node.additional) if isinstance(node.additional, Node) else None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        assert isinstance(value, dict)
        count = 1
        if limits.min_properties is not None and len(value) < limits.min_properties:
            found.append(problems.unfit(path, len(value), f"have at least {limits.min_properties} properties"))
        if limits.max_properties is not None and len(value) > limits.max_properties:
            found.append(problems.too_many(path, len(value), limits.max_properties, "properties"))
        for key, item in value.items():
            entry = known.get(key)
            if entry is not None:
                count += entry[2] if type(item) is entry[1] else entry[0](item, (path, key), found)
            elif check_further is not None:
                count += check_further(item, (path, MapKey(key)), found)
            elif closed:
                found.append(problems.forbidden_property(path, key))
        found.extend(problems.required(path, key) for key in required if key not in value)
        return count

    return check


def _combinations(node: Node) -> Check | None:
    checks = [_any_of(node), _one_of(node), _all_of(node), _negated(node)]
    present = [check for check in checks if check is not None]
    if not present:
        return None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        return sum(each(value, path, found) for each in present)

    return check


def _attempt(check: Check, value: Json, path: Path) -> tuple[int, list[Problem]]:
    """Run the check of an alternative; what it finds belongs to the value that has the alternatives."""
    found: list[Problem] = []
    count = check(value, path, found)
    return count, [Problem(path, problem.text, problem.error) for problem in found]


def _any_of(node: Node) -> Check | None:
    alternatives = [compile_check(each) for each in node.any_of]
    if not alternatives:
        return None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        best: tuple[int, list[Problem]] | None = None
        for alternative in alternatives:
            count, failures = _attempt(alternative, value, path)
            if not failures:
                return count
            if best is None or count > best[0]:
                best = count, failures
        assert best is not None
        found.append(problems.whole(path, f'"{value_name(path)}" must validate at least one schema (anyOf)'))
        found.extend(best[1])
        return best[0]

    return check


def _one_of(node: Node) -> Check | None:
    alternatives = [compile_check(each) for each in node.one_of]
    if not alternatives:
        return None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        attempts = [_attempt(alternative, value, path) for alternative in alternatives]
        valid = [count for count, failures in attempts if not failures]
        if len(valid) == 1:
            return valid[0]
        outcome = f"Found {len(valid)} valid alternatives" if valid else "Found none valid"
        name = value_name(path)
        found.append(problems.whole(path, f'"{name}" must validate one and only one schema (oneOf). {outcome}'))
        if valid:
            return 0
        count, failures = max(attempts, key=lambda attempt: attempt[0])
        found.extend(failures)
        return count

    return check


def _all_of(node: Node) -> Check | None:
    parts = [compile_check(each) for each in node.all_of]
    if not parts:
        return None

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        attempts = [_attempt(part, value, path) for part in parts]
        valid = sum(not failures for _, failures in attempts)
        for _, failures in attempts:
            found.extend(failures)
        if valid != len(parts):
            outcome = "" if valid else ". None validated"
            name = value_name(path)
            found.append(problems.whole(path, f'"{name}" must validate all the schemas (allOf){outcome}'))
        return sum(count for count, _ in attempts)

    return check


def _negated(node: Node) -> Check | None:
    if node.negated is None:
        return None
    forbidden = compile_check(node.negated)

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        if not _attempt(forbidden, value, path)[1]:
            found.append(problems.whole(path, f'"{value_name(path)}" must not validate the schema (not)'))
        return 0

    return check
