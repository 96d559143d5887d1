"""Calls of functions and operators.

The checker's rules choose the overload, if need be at run time. Some operators do not evaluate all their arguments.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, cast

from aim_schema.cel import types, values
from aim_schema.cel.equality import comparison
from aim_schema.cel.failures import NO_SUCH_OVERLOAD, CelError, CompileError, InstantiationError
from aim_schema.cel.functions import Overload, choose_at_run_time
from aim_schema.cel.library import FUNCTIONS
from aim_schema.cel.library.formatting import static_problem
from aim_schema.cel.program import Compiled, Context, Frame, Run, Scope
from aim_schema.cel.syntax import Call, Expression, ListLiteral, Literal, Name, Select
from aim_schema.cel.types import A, Type, is_dynamic, list_of, map_of, optional_of, shown
from aim_schema.cel.values import Optional
from aim_schema.correlation import list_map_key
from aim_schema.listtypes import identity

if TYPE_CHECKING:
    from aim_api.tree import Json

_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_CHECKED_LITERALS = {"duration": 0, "timestamp": 0, "matches": -1, "find": -1, "findAll": 1}
"""Functions whose argument at this place is checked when the expression is compiled, if it is a literal."""


def qualified_name(expression: Expression, scope: Scope) -> str:
    """Return ``a.b.c`` for a chain of names that does not begin with a variable, else the empty string."""
    if isinstance(expression, Name):
        return "" if expression.name in scope else expression.name
    if isinstance(expression, Select) and not expression.optional:
        prefix = qualified_name(expression.operand, scope)
        return f"{prefix}.{expression.field}" if prefix else ""
    return ""


def call(context: Context, node: Call, scope: Scope) -> Compiled:
    """Compile ``f(x)`` and the operators that evaluate all their arguments."""
    if node.function not in FUNCTIONS:
        raise _undeclared(node, node.function)
    arguments = [context.compile(argument, scope) for argument in node.arguments]
    return _resolved(context, node, node.function, arguments, is_member=False)


def member_call(context: Context, node: Call, scope: Scope) -> Compiled:
    """Compile ``x.f(y)``, where ``x.f`` may also be the qualified name of a function."""
    assert node.target is not None
    name = f"{qualified_name(node.target, scope)}.{node.function}"
    if name in FUNCTIONS:
        arguments = [context.compile(argument, scope) for argument in node.arguments]
        return _resolved(context, node, name, arguments, is_member=False)
    target = context.compile(node.target, scope)
    if node.function not in FUNCTIONS and node.function not in ("or", "orValue"):
        raise _undeclared(node, node.function)
    arguments = [context.compile(argument, scope) for argument in node.arguments]
    if node.function in ("or", "orValue") and len(arguments) == 1:
        return _alternative(context, node, target, arguments[0])
    if node.function == "format" and len(arguments) == 1:
        _check_format(context, node, scope)
    return _resolved(context, node, node.function, [target, *arguments], is_member=True)


def _resolved(context: Context, node: Call, name: str, arguments: Sequence[Compiled], *, is_member: bool) -> Compiled:
    given = [argument.type for argument in arguments]
    candidates: list[Overload] = []
    result: Type | None = None
    for overload in FUNCTIONS[name]:
        if overload.is_member != is_member:
            continue
        *parameters, produced = context.inference.instantiate([*overload.parameters, overload.result])
        if context.inference.accept(parameters, given):
            candidates.append(overload)
            found = context.inference.resolve(produced)
            result = found if result is None or result.name == found.name else types.DYN
    if result is None:
        raise _no_overload(context, node, name, given, is_member=is_member)
    run = _invocation(candidates, [_decoded(context, argument) for argument in arguments], context, given)
    if name == "_+_" and result.name == "list":
        result = context.inference.resolve(given[0])
        run = _union(run, result) if result.list_type else run
    _check_literals(node, name, arguments, run)
    if name in _CONVERSIONS and arguments[0].constant:
        return _converted(node, result, run)
    return Compiled(result, run)


def _union(run: Run, kind: Type) -> Run:
    """Adding to a list of type ``set`` or ``map`` keeps one item of each value or key, the later one's content."""
    keys = kind.list_map_keys

    def unite(frame: Frame) -> object:
        merged: dict[Hashable, Json] = {}
        for item in cast("list[Json]", run(frame)):
            merged[list_map_key(item, keys) if keys else identity(item)] = item
        return list(merged.values())

    return unite


def _converted(node: Call, kind: Type, run: Run) -> Compiled:
    """Convert a constant once and for all."""
    try:
        value = run([])
    except CelError as error:
        raise InstantiationError(node.position, f"program instantiation failed: {error}") from None
    return Compiled(kind, lambda _frame: value, constant=True)


def _check_format(context: Context, node: Call, scope: Scope) -> None:
    """Refuse a literal template that does not fit a literal list of values."""
    template, listed = node.target, node.arguments[0]
    if not (isinstance(template, Literal) and isinstance(template.value, str) and isinstance(listed, ListLiteral)):
        return
    kinds = [context.inference.resolve(context.compile(each, scope).type) for each, _ in listed.elements]
    problem = static_problem(template.value, ["dyn" if is_dynamic(kind) else kind.name for kind in kinds])
    if problem is not None:
        index, text = problem
        raise CompileError(node.position if index is None else listed.elements[index][0].position, text)


def _undeclared(node: Call, name: str) -> CompileError:
    return CompileError(node.position, f"undeclared reference to '{name}' (in container '')")


def _no_overload(context: Context, node: Call, name: str, given: Sequence[Type], *, is_member: bool) -> CompileError:
    names = [shown(context.inference.resolve(kind)) for kind in given]
    signature = f"{names[0]}.({', '.join(names[1:])})" if is_member else f"({', '.join(names)})"
    return CompileError(node.position, f"found no matching overload for '{name}' applied to '{signature}'")


def _decoded(context: Context, argument: Compiled) -> Run:
    """Return the closure of an argument with lists, maps and objects decoded; scalars are already."""
    kind = context.inference.resolve(argument.type)
    decode, run = kind.decode, argument.run
    if decode is None or kind.is_scalar:
        return run
    return lambda frame: decode(run(frame))


def _invocation(
    candidates: Sequence[Overload], arguments: Sequence[Run], context: Context, given: Sequence[Type]
) -> Run:
    unknown = any(is_dynamic(context.inference.resolve(kind)) for kind in given)
    certain = len(candidates) == 1 and not unknown
    implementation = candidates[0].run if certain else choose_at_run_time(candidates)
    if len(arguments) == 1:
        first = arguments[0]
        return lambda frame: implementation(first(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: implementation(first(frame), second(frame))
    return lambda frame: implementation(*[argument(frame) for argument in arguments])


def _check_literals(node: Call, name: str, arguments: Sequence[Compiled], run: Run) -> None:
    place = _CHECKED_LITERALS.get(name)
    literal = node.arguments[place] if place is not None and -1 <= place < len(node.arguments) else None
    if not isinstance(literal, Literal) or not isinstance(literal.value, str):
        return
    try:
        if all(argument.constant for argument in arguments):
            run([])
        elif name not in ("duration", "timestamp"):
            FUNCTIONS["matches"][0].run("", literal.value)
    except CelError:
        raise CompileError(literal.position, f"invalid {name} argument") from None


def _alternative(context: Context, node: Call, target: Compiled, fallback: Compiled) -> Compiled:
    """Compile ``or`` and ``orValue``: the argument is evaluated only where the target has no value."""
    inner = context.inference.variable()
    wanted = inner if node.function == "orValue" else optional_of(inner)
    given = [target.type, fallback.type]
    if not context.inference.accept([optional_of(inner), wanted], given):
        raise _no_overload(context, node, node.function, given, is_member=True)
    first, second, unwrap = target.run, fallback.run, node.function == "orValue"

    def run(frame: Frame) -> object:
        optional = first(frame)
        if not isinstance(optional, Optional):
            raise CelError(NO_SUCH_OVERLOAD)
        if not optional.present:
            return second(frame)
        return optional.value if unwrap else optional

    return Compiled(context.inference.resolve(wanted), run)


def _operands(context: Context, node: Call, scope: Scope, *signatures: Sequence[Type]) -> list[Compiled]:
    """Compile the arguments of an operator that must fit one of the signatures."""
    compiled = [context.compile(argument, scope) for argument in node.arguments]
    given = [each.type for each in compiled]
    for signature in signatures:
        if context.inference.accept(context.inference.instantiate(signature), given):
            return compiled
    raise _no_overload(context, node, node.function, given, is_member=False)


def _equality(context: Context, node: Call, scope: Scope) -> Compiled:
    left, right = _operands(context, node, scope, (A, A))
    kinds = [context.inference.resolve(each.type) for each in (left, right)]
    loose = any(is_dynamic(kind) or kind.name == "null_type" for kind in kinds)
    same = values.equal if loose else comparison(kinds[0])
    first, second = _decoded(context, left), _decoded(context, right)
    if node.function == "_==_":
        return Compiled(types.BOOL, lambda frame: same(first(frame), second(frame)))
    return Compiled(types.BOOL, lambda frame: not same(first(frame), second(frame)))


def _membership(context: Context, node: Call, scope: Scope) -> Compiled:
    item, holder = _operands(context, node, scope, (A, list_of(A)), (A, map_of(A, types.B)))
    item_type, holder_type = (context.inference.resolve(each.type) for each in (item, holder))
    first, second = item.run, _decoded(context, holder)
    if holder_type.name == "map":
        return Compiled(types.BOOL, lambda frame: first(frame) in _dictionary(second(frame)))
    if holder_type.name == "list" and holder_type.parameters[0].exact and item_type.exact:
        return Compiled(types.BOOL, lambda frame: first(frame) in _listed(second(frame)))

    def run(frame: Frame) -> object:
        value, within = first(frame), second(frame)
        if isinstance(within, dict):
            return value in within
        return any(values.equal(value, each) for each in _listed(within))

    return Compiled(types.BOOL, run)


def _listed(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise CelError(NO_SUCH_OVERLOAD)


def _dictionary(value: object) -> dict[object, object]:
    if isinstance(value, dict):
        return value
    raise CelError(NO_SUCH_OVERLOAD)


def _logical(decisive: bool) -> "Callable[[Context, Call, Scope], Compiled]":  # noqa: FBT001 - false decides &&, true ||
    """Return ``&&`` or ``||``: whichever side decides does so even where the other one fails."""

    def special(context: Context, node: Call, scope: Scope) -> Compiled:
        compiled = [context.compile(argument, scope) for argument in node.arguments]
        for argument, each in zip(node.arguments, compiled, strict=True):
            if not context.inference.accept([types.BOOL], [each.type]):
                found = shown(context.inference.resolve(each.type))
                raise CompileError(argument.position, f"expected type 'bool' but found '{found}'")
        left, right = (_boolean(context, each) for each in compiled)

        def run(frame: Frame) -> object:
            try:
                if left(frame) is decisive:
                    return decisive
            except CelError as failure:
                return _rescued(right, frame, failure, decisive=decisive)
            return right(frame)

        return Compiled(types.BOOL, run)

    return special


def _rescued(right: Run, frame: Frame, failure: CelError, *, decisive: bool) -> object:
    try:
        if right(frame) is decisive:
            return decisive
    except CelError:
        pass
    raise failure


def _boolean(context: Context, compiled: Compiled) -> Run:
    """Return a closure that only ever returns a boolean."""
    run = compiled.run
    if not is_dynamic(context.inference.resolve(compiled.type)):
        return run

    def checked(frame: Frame) -> object:
        value = run(frame)
        if isinstance(value, bool):
            return value
        raise CelError(NO_SUCH_OVERLOAD)

    return checked


def _conditional(context: Context, node: Call, scope: Scope) -> Compiled:
    condition, consequence, alternative = _operands(context, node, scope, (types.BOOL, A, A))
    kind = context.inference.join(consequence.type, alternative.type)
    assert kind is not None
    test, positive, negative = _boolean(context, condition), consequence.run, alternative.run
    return Compiled(kind, lambda frame: positive(frame) if test(frame) else negative(frame))


SPECIAL: "dict[str, Callable[[Context, Call, Scope], Compiled]]" = {
    "_&&_": _logical(decisive=False),
    "_||_": _logical(decisive=True),
    "_?_:_": _conditional,
    "_==_": _equality,
    "_!=_": _equality,
    "@in": _membership,
}
"""Operators with rules of their own."""
