"""From a parsed expression to a typed closure."""

from collections.abc import Mapping
from typing import cast

from aim_schema.cel import calls, selection, types
from aim_schema.cel.failures import CelError, CompileError
from aim_schema.cel.inference import Inference
from aim_schema.cel.library import OPAQUE_TYPES
from aim_schema.cel.macros import MACROS
from aim_schema.cel.program import Compiled, Frame, Run, Scope, Variable
from aim_schema.cel.syntax import (
    Call,
    Expression,
    Index,
    ListLiteral,
    Literal,
    MapLiteral,
    Name,
    Select,
    parse,
)
from aim_schema.cel.types import Type, is_dynamic, is_optional, list_of, map_of, shown
from aim_schema.cel.values import Optional, TypeValue, UInt

_LITERAL_TYPES: dict[type, Type] = {
    bool: types.BOOL,
    int: types.INT,
    UInt: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
}
_TYPE_NAMES = frozenset(
    [
        *("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"),
        *("google.protobuf.Duration", "google.protobuf.Timestamp"),
        *OPAQUE_TYPES,
    ]
)


class Program:
    """A compiled expression.

    Attributes:
        type: the static type of its value.
        used: the names of the variables that it reads.
    """

    __slots__ = ("_locals", "_run", "type", "used")

    def __init__(self, kind: Type, run: Run, used: frozenset[str], local_variables: int) -> None:
        self.type = kind
        self.used = used
        self._run = run
        self._locals = [None] * local_variables

    def evaluate(self, *variables: object) -> object:
        """Return the value for the given variables, in the order of their declaration; :class:`CelError` otherwise."""
        try:
            return self._run([*variables, *self._locals])
        except RecursionError:
            raise CelError("expression is nested too deeply") from None


def compile_expression(expression: str, variables: Mapping[str, Type]) -> Program:
    """Compile an expression over variables of the given types; :class:`CompileError` where it is not well-formed."""
    compiler = _Compiler(len(variables))
    scope = {name: Variable(slot, kind) for slot, (name, kind) in enumerate(variables.items())}
    try:
        compiled = compiler.compile(parse(expression), scope)
    except RecursionError:
        raise CompileError(0, "expression recursion limit exceeded") from None
    compiler.refuse_mixed_literals()
    kind = compiler.inference.resolve(compiled.type)
    return Program(kind, compiled.run, frozenset(compiler.used), compiler.slots - len(variables))


class _Compiler:
    def __init__(self, slots: int) -> None:
        self.inference = Inference()
        self.slots = slots
        self.used: set[str] = set()
        self.mixed: list[tuple[int, Type, Type]] = []
        self.formatting = 0

    def new_variable(self, kind: Type) -> Variable:
        self.slots += 1
        return Variable(self.slots - 1, kind)

    def compile(self, expression: Expression, scope: Scope) -> Compiled:
        match expression:
            case Literal():
                compiled = _constant(_LITERAL_TYPES[type(expression.value)], expression.value)
            case Name():
                compiled = self._name(expression, scope)
            case Select():
                compiled = self._type_name(expression, scope) or selection.select(self, expression, scope)
            case Index():
                compiled = selection.index(self, expression, scope)
            case Call():
                compiled = self._call(expression, scope)
            case ListLiteral():
                compiled = self._list(expression, scope)
            case MapLiteral():
                compiled = self._map(expression, scope)
            case _:
                raise AssertionError(expression)
        return compiled

    def _name(self, node: Name, scope: Scope) -> Compiled:
        variable = scope.get(node.name)
        if variable is not None:
            slot = variable.slot
            self.used.add(node.name)
            decode = variable.type.decode if variable.type.is_scalar else None
            if decode is not None:
                return Compiled(variable.type, lambda frame: decode(frame[slot]))
            return Compiled(variable.type, lambda frame: frame[slot], slot=slot)
        if node.name in _TYPE_NAMES:
            return _constant(types.ANY_TYPE, TypeValue(node.name))
        raise CompileError(node.position, f"undeclared reference to '{node.name}' (in container '')")

    def _type_name(self, node: Select, scope: Scope) -> Compiled | None:
        name = calls.qualified_name(node, scope)
        return _constant(types.ANY_TYPE, TypeValue(name)) if name in _TYPE_NAMES else None

    def _call(self, node: Call, scope: Scope) -> Compiled:
        if node.target is None:
            if node.function == "has" and len(node.arguments) == 1:
                field = node.arguments[0]
                if not isinstance(field, Select) or field.optional:
                    raise CompileError(field.position, "invalid argument to has() macro")
                return selection.presence(self, field, scope, node.position)
            special = calls.SPECIAL.get(node.function)
            return calls.call(self, node, scope) if special is None else special(self, node, scope)
        macro = MACROS.get((node.function, len(node.arguments)))
        if macro is not None:
            return macro(self, node, scope)
        self.formatting += node.function == "format"
        compiled = calls.member_call(self, node, scope)
        self.formatting -= node.function == "format"
        return compiled

    def refuse_mixed_literals(self) -> None:
        """Refuse lists and maps whose parts have several types; only what is formatted may be such."""
        for position, first, other in sorted(self.mixed, key=lambda entry: entry[0]):
            expected, found = shown(self.inference.resolve(first)), shown(self.inference.resolve(other))
            if expected != found:
                raise CompileError(position, f"expected type '{expected}' but found '{found}'")

    def _join(self, kinds: list[tuple[Type, Expression]]) -> Type:
        """Return the type of the parts of a literal."""
        if not kinds:
            return self.inference.variable()
        joined = kinds[0][0]
        for kind, node in kinds[1:]:
            joined = self.inference.join(joined, kind) or types.DYN
            if not self.formatting:
                self.mixed.append((node.position, kinds[0][0], kind))
        return joined

    def _element(self, compiled: Compiled, node: Expression, *, optional: bool) -> Type:
        kind = self.inference.resolve(compiled.type)
        if not optional or is_dynamic(kind):
            return kind
        if not is_optional(kind):
            raise CompileError(node.position, f"expected type 'optional_type({shown(kind)})' but found '{shown(kind)}'")
        return kind.parameters[0]

    def _list(self, node: ListLiteral, scope: Scope) -> Compiled:
        kinds: list[tuple[Type, Expression]] = []
        parts: list[tuple[Run, bool]] = []
        constant = True
        for expression, optional in node.elements:
            compiled = self.compile(expression, scope)
            kinds.append((self._element(compiled, expression, optional=optional), expression))
            parts.append((compiled.run, optional))
            constant = constant and compiled.constant and not optional
        kind = list_of(self._join(kinds))
        if constant:
            return _constant(kind, [run([]) for run, _ in parts])
        return Compiled(kind, lambda frame: list(_present(frame, parts)))

    def _map(self, node: MapLiteral, scope: Scope) -> Compiled:
        keys: list[tuple[Type, Expression]] = []
        values: list[tuple[Type, Expression]] = []
        parts: list[tuple[Run, Run, bool]] = []
        for key, value, optional in node.entries:
            compiled_key, compiled_value = self.compile(key, scope), self.compile(value, scope)
            keys.append((compiled_key.type, key))
            values.append((self._element(compiled_value, value, optional=optional), value))
            parts.append((compiled_key.run, compiled_value.run, optional))
        kind = map_of(self._join(keys), self._join(values))
        return Compiled(kind, lambda frame: _entries(frame, parts))


def _constant(kind: Type, value: object) -> Compiled:
    return Compiled(kind, lambda _frame: value, constant=True)


def _present(frame: Frame, parts: list[tuple[Run, bool]]) -> list[object]:
    found: list[object] = []
    for run, optional in parts:
        value = run(frame)
        if not optional:
            found.append(value)
        elif cast("Optional", value).present:
            found.append(cast("Optional", value).value)
    return found


def _entries(frame: Frame, parts: list[tuple[Run, Run, bool]]) -> dict[object, object]:
    found: dict[object, object] = {}
    for run_key, run_value, optional in parts:
        key, value = run_key(frame), run_value(frame)
        if optional:
            if not cast("Optional", value).present:
                continue
            value = cast("Optional", value).value
        if key in found:
            raise CelError(f"Failed with repeated key: {key}")
        found[key] = value
    return found
