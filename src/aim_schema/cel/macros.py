"""Macros, which bind variables: ``all``, ``exists``, ``filter``, ``map`` and their kin.

``all`` and ``exists`` forgive an error where another element decides; the others do not.
"""

from collections.abc import Callable, Iterable, Sequence

from aim_schema.cel import types
from aim_schema.cel.failures import NO_SUCH_OVERLOAD, CelError, CompileError
from aim_schema.cel.library.lists import sort_by_keys
from aim_schema.cel.program import Compiled, Context, Frame, Run, Scope, Variable
from aim_schema.cel.syntax import Call, Expression, MapLiteral, Name
from aim_schema.cel.types import Decode, Type, is_dynamic, list_of, map_of, optional_of, shown
from aim_schema.cel.values import NONE, Optional

Rows = Callable[[Frame], Iterable[tuple[object, object]]]
"""The pairs that a macro's variables take: (index, element) of a list, (key, value) of a map."""

Macro = Callable[[Context, Call, Scope], Compiled]


class _Loop:
    """The range and the variables of a macro call."""

    def __init__(self, context: Context, node: Call, scope: Scope, variables: int) -> None:
        assert node.target is not None
        self.context = context
        source = context.compile(node.target, scope)
        self.rows, first, second = _range(context, source, node.target)
        names = [_variable_name(argument) for argument in node.arguments[:variables]]
        if len(set(names)) != len(names):
            raise CompileError(node.arguments[1].position, f"duplicate variable name: {names[0]}")
        self.is_map = first is not None
        kinds = [first or types.INT, second] if variables == 2 else [first or second]
        self.variables = [context.new_variable(kind) for kind in kinds]
        self.element = kinds[0]
        self.scope = {**scope, **dict(zip(names, self.variables, strict=True))}

    def compile(self, expression: Expression, expected: Type | None = None) -> Compiled:
        """Compile an expression in which the variables are known."""
        compiled = self.context.compile(expression, self.scope)
        if expected is not None and not self.context.inference.accept([expected], [compiled.type]):
            found = shown(self.context.inference.resolve(compiled.type))
            raise CompileError(expression.position, f"expected type '{shown(expected)}' but found '{found}'")
        return compiled

    def bind(self) -> Callable[[Frame, tuple[object, object]], object]:
        """Return what puts one row into the frame and returns the first variable's value."""
        slots = [variable.slot for variable in self.variables]
        if len(slots) == 2:
            first, second = slots

            def bind_both(frame: Frame, row: tuple[object, object]) -> object:
                frame[first], frame[second] = row
                return row[0]

            return bind_both
        slot, take_key = slots[0], self.is_map

        def bind_one(frame: Frame, row: tuple[object, object]) -> object:
            value = row[0] if take_key else row[1]
            frame[slot] = value
            return value

        return bind_one


def _variable_name(argument: Expression) -> str:
    if isinstance(argument, Name):
        return argument.name
    raise CompileError(argument.position, "argument must be a simple name")


def _range(context: Context, source: Compiled, node: Expression) -> tuple[Rows, Type | None, Type]:
    """Return the rows of a range, the type of its keys (None for a list) and the type of its values."""
    kind = context.inference.resolve(source.type)
    run = source.run
    if kind.name == "list":
        element = kind.parameters[0]
        return _list_rows(run, element.decode if element.is_scalar else None), None, element
    if kind.name == "map":
        key, value = kind.parameters
        return _map_rows(run, value.decode if value.is_scalar else None), key, value
    if is_dynamic(kind):
        context.inference.accept([types.DYN], [kind])
        return _dynamic_rows(run), None, types.DYN
    raise CompileError(
        node.position,
        f"expression of type '{shown(kind)}' cannot be range of a comprehension (must be list, map, or dynamic)",
    )


def _list_rows(run: Run, decode: Decode | None) -> Rows:
    def rows(frame: Frame) -> Iterable[tuple[object, object]]:
        items = run(frame)
        if not isinstance(items, list):
            raise CelError("invalid data, expected an array for the provided schema with type=array")
        return enumerate(items if decode is None else map(decode, items))

    return rows


def _map_rows(run: Run, decode: Decode | None) -> Rows:
    def rows(frame: Frame) -> Iterable[tuple[object, object]]:
        mapping = run(frame)
        if not isinstance(mapping, dict):
            raise CelError("invalid data, expected a map for the provided schema with type=object")
        return mapping.items() if decode is None else ((key, decode(value)) for key, value in mapping.items())

    return rows


def _dynamic_rows(run: Run) -> Rows:
    """With one variable the keys of a map are wanted, which is what the second half of a row is taken for."""

    def rows(frame: Frame) -> Iterable[tuple[object, object]]:
        value = run(frame)
        if isinstance(value, dict):
            return ((key, key) for key in value)
        if isinstance(value, list):
            return enumerate(value)
        raise CelError(NO_SUCH_OVERLOAD)

    return rows


def _decided_by(verdict: bool, variables: int) -> Macro:  # noqa: FBT001 - all is decided by False, exists by True
    """Return ``all`` or ``exists``."""

    def macro(context: Context, node: Call, scope: Scope) -> Compiled:
        loop = _Loop(context, node, scope, variables)
        test = loop.compile(node.arguments[-1], types.BOOL).run
        rows, bind = loop.rows, loop.bind()

        def run(frame: Frame) -> object:
            failure: CelError | None = None
            for row in rows(frame):
                bind(frame, row)
                try:
                    if test(frame) is verdict:
                        return verdict
                except CelError as error:
                    failure = failure or error
            if failure is not None:
                raise failure
            return not verdict

        return Compiled(types.BOOL, run)

    return macro


def _exists_one(variables: int) -> Macro:
    def macro(context: Context, node: Call, scope: Scope) -> Compiled:
        loop = _Loop(context, node, scope, variables)
        test = loop.compile(node.arguments[-1], types.BOOL).run
        rows, bind = loop.rows, loop.bind()

        def run(frame: Frame) -> object:
            count = 0
            for row in rows(frame):
                bind(frame, row)
                count += _truth(test(frame))
            return count == 1

        return Compiled(types.BOOL, run)

    return macro


def _truth(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise CelError(NO_SUCH_OVERLOAD)


def _filter(context: Context, node: Call, scope: Scope) -> Compiled:
    loop = _Loop(context, node, scope, 1)
    test = loop.compile(node.arguments[1], types.BOOL).run
    rows, bind = loop.rows, loop.bind()

    def run(frame: Frame) -> object:
        kept: list[object] = []
        for row in rows(frame):
            value = bind(frame, row)
            if _truth(test(frame)):
                kept.append(value)
        return kept

    return Compiled(list_of(loop.element), run)


def _selected(loop: _Loop, arguments: Sequence[Expression]) -> Callable[[Frame], Iterable[object]]:
    """Return the rows that pass the filter, if a call has one before its last argument."""
    test = loop.compile(arguments[0], types.BOOL).run if len(arguments) == 2 else None
    rows, bind = loop.rows, loop.bind()

    def run(frame: Frame) -> Iterable[object]:
        for row in rows(frame):
            bind(frame, row)
            if test is None or _truth(test(frame)):
                yield row[0]

    return run


def _map(variables: int) -> Macro:
    def macro(context: Context, node: Call, scope: Scope) -> Compiled:
        loop = _Loop(context, node, scope, variables)
        selected = _selected(loop, node.arguments[variables:])
        result = loop.compile(node.arguments[-1])
        make = result.run
        return Compiled(list_of(result.type), lambda frame: [make(frame) for _ in selected(frame)])

    return macro


def _transform_map(context: Context, node: Call, scope: Scope) -> Compiled:
    loop = _Loop(context, node, scope, 2)
    selected = _selected(loop, node.arguments[2:])
    result = loop.compile(node.arguments[-1])
    make = result.run
    return Compiled(map_of(loop.element, result.type), lambda frame: {key: make(frame) for key in selected(frame)})


def _transform_map_entry(context: Context, node: Call, scope: Scope) -> Compiled:
    loop = _Loop(context, node, scope, 2)
    selected = _selected(loop, node.arguments[2:])
    if not isinstance(node.arguments[-1], MapLiteral):
        raise CompileError(node.arguments[-1].position, "transformMapEntry() needs a map literal as its last argument")
    result = loop.compile(node.arguments[-1])
    make = result.run

    def run(frame: Frame) -> object:
        merged: dict[object, object] = {}
        for _ in selected(frame):
            entry = make(frame)
            assert isinstance(entry, dict)
            for key, value in entry.items():
                if key in merged:
                    raise CelError(f"insert failed: key {key} already exists")
                merged[key] = value
        return merged

    return Compiled(result.type, run)


def _sort_by(context: Context, node: Call, scope: Scope) -> Compiled:
    assert node.target is not None
    items = context.compile(node.target, scope)
    keys = _map(1)(context, node, scope)
    key_type = context.inference.resolve(keys.type.parameters[0])
    names = {kind.name for kind in types.COMPARABLE}
    if not is_dynamic(key_type) and key_type.name not in names:
        given = f"{shown(context.inference.resolve(items.type))}.({shown(context.inference.resolve(keys.type))})"
        raise CompileError(
            node.position, f"found no matching overload for '@sortByAssociatedKeys' applied to '{given}'"
        )
    values, sort_keys = items.run, keys.run

    def run(frame: Frame) -> object:
        listed, ordered = values(frame), sort_keys(frame)
        assert isinstance(listed, list)
        assert isinstance(ordered, list)
        return sort_by_keys(listed, ordered)

    return Compiled(items.type, run)


def _opt_map(*, wrap: bool) -> Macro:
    """Return ``optMap``, which wraps its result, or ``optFlatMap``, whose result is optional already."""

    def macro(context: Context, node: Call, scope: Scope) -> Compiled:
        assert node.target is not None
        source = context.compile(node.target, scope)
        inner = context.inference.variable()
        if not context.inference.accept([optional_of(inner)], [source.type]):
            given = f"{shown(context.inference.resolve(source.type))}.()"
            raise CompileError(node.position, f"found no matching overload for 'hasValue' applied to '{given}'")
        name = _variable_name(node.arguments[0])
        variable: Variable = context.new_variable(context.inference.resolve(inner))
        result = context.compile(node.arguments[1], {**scope, name: variable})
        run_source, run_result, slot = source.run, result.run, variable.slot

        def run(frame: Frame) -> object:
            optional = run_source(frame)
            assert isinstance(optional, Optional)
            if not optional.present:
                return NONE
            frame[slot] = optional.value
            value = run_result(frame)
            return Optional(value, present=True) if wrap else value

        return Compiled(optional_of(result.type) if wrap else result.type, run)

    return macro


MACROS: dict[tuple[str, int], Macro] = {
    ("all", 2): _decided_by(verdict=False, variables=1),
    ("all", 3): _decided_by(verdict=False, variables=2),
    ("exists", 2): _decided_by(verdict=True, variables=1),
    ("exists", 3): _decided_by(verdict=True, variables=2),
    ("exists_one", 2): _exists_one(1),
    ("exists_one", 3): _exists_one(2),
    ("existsOne", 3): _exists_one(2),
    ("filter", 2): _filter,
    ("map", 2): _map(1),
    ("map", 3): _map(1),
    ("transformList", 3): _map(2),
    ("transformList", 4): _map(2),
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("sortBy", 2): _sort_by,
    ("optMap", 2): _opt_map(wrap=True),
    ("optFlatMap", 2): _opt_map(wrap=False),
}
"""Macros called on a target, by name and number of arguments."""
