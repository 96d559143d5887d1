"""Reading fields and elements: ``a.b``, ``has(a.b)``, ``a.?b``, ``a[b]`` and ``a[?b]``."""

from collections.abc import Callable

from aim_schema.cel import types
from aim_schema.cel.failures import NO_SUCH_OVERLOAD, CelError, CompileError
from aim_schema.cel.mismatches import expected_types, mismatch
from aim_schema.cel.program import Compiled, Context, Frame, Run, Scope
from aim_schema.cel.syntax import Index, Select
from aim_schema.cel.tokens import RESERVED
from aim_schema.cel.types import DYN, Decode, Type, is_dynamic, is_optional, optional_of, shown
from aim_schema.cel.values import NONE, Optional, UInt, type_name
from aim_schema.nodes import Node


def select(context: Context, node: Select, scope: Scope) -> Compiled:
    """Compile ``a.b`` and ``a.?b``; a field of an optional value is optional itself."""
    operand = context.compile(node.operand, scope)
    holder = context.inference.resolve(operand.type)
    inner = holder.parameters[0] if is_optional(holder) else holder
    key, found, schema = _field(context, inner, node.field, node.position)
    decode = found.decode if found.is_scalar else None
    if node.optional or is_optional(holder):
        return Compiled(optional_of(found), _optional_read(operand.run, key, decode, inner))
    if is_dynamic(inner):
        return Compiled(found, _dynamic_read(operand.run, key))
    if schema is None:
        return Compiled(found, _entry_read(operand.run, key, node.field, decode))
    return Compiled(found, _field_read(operand, key, node.field, schema, decode))


def presence(context: Context, node: Select, scope: Scope, position: int) -> Compiled:
    """Compile ``has(a.b)``, which stands at ``position``."""
    operand = context.compile(node.operand, scope)
    holder = context.inference.resolve(operand.type)
    inner = holder.parameters[0] if is_optional(holder) else holder
    key, _, schema = _field(context, inner, node.field, position)
    run = operand.run
    if is_optional(holder) or is_dynamic(inner):
        return Compiled(types.BOOL, lambda frame: _find(_opened(run(frame)), key, inner).present)
    if schema is None:
        return Compiled(types.BOOL, lambda frame: key in _mapping(run(frame)))
    return Compiled(types.BOOL, _field_presence(operand, key, schema))


def _field_presence(operand: Compiled, key: str, node: Node) -> Run:
    """Test a property of an object; null is as good as absent."""
    run, slot, wanted = operand.run, operand.slot, expected_types(node)

    def test(frame: Frame) -> object:
        value = _mapping(run(frame) if slot is None else frame[slot]).get(key)
        if value is None:
            return False
        if wanted and type(value) not in wanted:
            raise CelError(mismatch(value, node))
        return True

    return test


def _field(context: Context, holder: Type, name: str, position: int) -> tuple[str, Type, Node | None]:
    """Return the key of a field in JSON, its type and, in an object, its schema; reserved words need no escape."""
    if holder.fields is not None:
        field = holder.fields.get(name) or holder.fields.get(f"__{name}__" if name in RESERVED else name)
        if field is None:
            raise CompileError(position, f"undefined field '{name}'")
        return field.key, field.type, field.node
    if holder.name == "map":
        return name, holder.parameters[1], None
    if is_dynamic(holder):
        context.inference.accept([DYN], [holder])
        return name, DYN, None
    raise CompileError(position, f"type '{shown(holder)}' does not support field selection")


def _mapping(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    raise CelError("invalid data, expected a map for the provided schema with type=object")


def _opened(value: object) -> object:
    """Return what an optional holds, or what stands for nothing."""
    if isinstance(value, Optional):
        return value.value if value.present else NONE
    return value


def _field_read(operand: Compiled, key: str, name: str, node: Node, decode: Decode | None) -> Run:
    """Read a property of an object; null is as good as absent."""
    run, slot, wanted = operand.run, operand.slot, expected_types(node)

    def read(frame: Frame) -> object:
        value = _mapping(run(frame) if slot is None else frame[slot]).get(key)
        if value is None:
            raise CelError(f"no such key: {name}")
        if wanted and type(value) not in wanted:
            raise CelError(mismatch(value, node))
        return value

    if decode is None:
        return read
    return lambda frame: decode(read(frame))


def _entry_read(run: Run, key: str, name: str, decode: Decode | None) -> Run:
    """Read an entry of a map, which may be null."""

    def read(frame: Frame) -> object:
        value = _mapping(run(frame)).get(key, NONE)
        if value is NONE:
            raise CelError(f"no such key: {name}")
        return value if decode is None else decode(value)

    return read


def _dynamic_read(run: Run, key: str) -> Run:
    def read(frame: Frame) -> object:
        found = _find(run(frame), key, DYN)
        if not found.present:
            raise CelError(f"no such key: {key}")
        return found.value

    return read


def _optional_read(run: Run, key: str, decode: Decode | None, holder: Type) -> Run:
    def read(frame: Frame) -> object:
        found = _find(_opened(run(frame)), key, holder)
        return Optional(decode(found.value), present=True) if found.present and decode is not None else found

    return read


def _find(holder: object, key: object, kind: Type) -> Optional:
    """Return the value at a key or an index, if it is there; a null field of an object is not."""
    if holder is NONE:
        return NONE
    if isinstance(holder, dict):
        value = holder.get(key, NONE)
        absent = value is NONE or (value is None and kind.fields is not None)
        return NONE if absent else Optional(value, present=True)
    if isinstance(holder, list):
        index = _as_index(key)
        return Optional(holder[index], present=True) if 0 <= index < len(holder) else NONE
    raise CelError(NO_SUCH_OVERLOAD)


def _as_index(key: object) -> int:
    if isinstance(key, int) and not isinstance(key, bool):
        return int(key)
    if isinstance(key, float) and key.is_integer():
        return int(key)
    raise CelError(f"unsupported index type '{type_name(key)}' in list")


def index(context: Context, node: Index, scope: Scope) -> Compiled:
    """Compile ``a[b]`` and ``a[?b]``; an element of an optional value is optional itself."""
    operand, position = context.compile(node.operand, scope), context.compile(node.index, scope)
    holder = context.inference.resolve(operand.type)
    inner = holder.parameters[0] if is_optional(holder) else holder
    element = _element(context, inner, position.type)
    if element is None:
        name = "_[?_]" if node.optional else "_[_]"
        given = f"({shown(holder)}, {shown(context.inference.resolve(position.type))})"
        raise CompileError(node.position, f"found no matching overload for '{name}' applied to '{given}'")
    decode = element.decode if element.is_scalar else None
    find = _finder(operand.run, position.run, decode)
    if node.optional or is_optional(holder):
        return Compiled(optional_of(element), find)
    return Compiled(element, _required(find, position.run))


def _element(context: Context, holder: Type, position: Type) -> Type | None:
    infer = context.inference
    if holder.name == "list":
        return holder.parameters[0] if infer.accept([types.INT], [position]) else None
    if holder.name == "map":
        return holder.parameters[1] if infer.accept([holder.parameters[0]], [position]) else None
    if is_dynamic(holder):
        infer.accept([DYN], [holder])
        return DYN
    return None


def _finder(run: Run, position: Run, decode: Decode | None) -> Callable[[Frame], Optional]:
    def find(frame: Frame) -> Optional:
        found = _find(_opened(run(frame)), position(frame), DYN)
        return Optional(decode(found.value), present=True) if found.present and decode is not None else found

    return find


def _required(find: Callable[[Frame], Optional], position: Run) -> Run:
    def read(frame: Frame) -> object:
        found = find(frame)
        if not found.present:
            key = position(frame)
            number = isinstance(key, int | float | UInt)
            raise CelError(f"index out of bounds: {key}" if number else f"no such key: {key}")
        return found.value

    return read
