"""Expressions as trees, and the parser that makes them. Macros are ordinary calls here; the compiler expands them."""

from dataclasses import dataclass

from aim_schema.cel.failures import CompileError
from aim_schema.cel.tokens import RESERVED, Token, tokenize
from aim_schema.cel.values import UInt


@dataclass(frozen=True, slots=True)
class Expression:
    """Any expression; ``position`` is the offset that messages about it name."""

    position: int


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant."""

    value: object


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A variable, a type, or the beginning of a qualified name."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """``operand.field``, or ``operand.?field`` where optional."""

    operand: Expression
    field: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """``operand[index]``, or ``operand[?index]`` where optional."""

    operand: Expression
    index: Expression
    optional: bool


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function, a macro or an operator; operators have names such as ``_+_`` and no target."""

    function: str
    target: Expression | None
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ListLiteral(Expression):
    """``[a, ?b]``; the flags tell optional elements."""

    elements: tuple[tuple[Expression, bool], ...]


@dataclass(frozen=True, slots=True)
class MapLiteral(Expression):
    """``{a: b, ?c: d}``; the flags tell optional entries."""

    entries: tuple[tuple[Expression, Expression, bool], ...]


_RELATIONS = ("<", "<=", ">=", ">", "==", "!=", "in")


def parse(expression: str) -> Expression:
    """Return the tree of an expression; :class:`CompileError` where it does not parse."""
    parser = _Parser(tokenize(expression))
    tree = parser.expression()
    parser.expect("end")
    return tree


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.next = 0

    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        token = self.tokens[self.next]
        self.next += 1
        return token

    def accept(self, *kinds: str) -> Token | None:
        return self.take() if self.peek().kind in kinds else None

    def expect(self, kind: str) -> Token:
        token = self.accept(kind)
        if token is None:
            found = self.peek()
            wanted = {"end": "<EOF>", "name": "IDENTIFIER"}.get(kind, f"'{kind}'")
            alone = kind == "end" and self.tokens[self.next + 1].kind == "end"
            problem = "extraneous" if alone else "mismatched"
            raise CompileError(found.position, f"Syntax error: {problem} input '{found.text}' expecting {wanted}")
        return token

    def expression(self) -> Expression:
        condition = self.disjunction()
        question = self.accept("?")
        if question is not None:
            consequence = self.disjunction()
            self.expect(":")
            condition = Call(question.position, "_?_:_", None, (condition, consequence, self.expression()))
        return condition

    def disjunction(self) -> Expression:
        left = self.conjunction()
        while operator := self.accept("||"):
            left = Call(operator.position, "_||_", None, (left, self.conjunction()))
        return left

    def conjunction(self) -> Expression:
        left = self.relation()
        while operator := self.accept("&&"):
            left = Call(operator.position, "_&&_", None, (left, self.relation()))
        return left

    def relation(self) -> Expression:
        left = self.sum()
        while operator := self.accept(*_RELATIONS):
            name = "@in" if operator.kind == "in" else f"_{operator.kind}_"
            left = Call(operator.position, name, None, (left, self.sum()))
        return left

    def sum(self) -> Expression:
        left = self.product()
        while operator := self.accept("+", "-"):
            left = Call(operator.position, f"_{operator.kind}_", None, (left, self.product()))
        return left

    def product(self) -> Expression:
        left = self.unary()
        while operator := self.accept("*", "/", "%"):
            left = Call(operator.position, f"_{operator.kind}_", None, (left, self.unary()))
        return left

    def unary(self) -> Expression:
        operator = self.accept("!", "-")
        if operator is None:
            return self.member()
        count = 1
        while self.accept(operator.kind):
            count += 1
        number = self._negative_literal(operator) if operator.kind == "-" else None
        if number is not None:
            return number if count % 2 else Call(operator.position, "-_", None, (number,))
        operand = self.member()
        if count % 2 == 0:
            return operand
        return Call(operator.position, "!_" if operator.kind == "!" else "-_", None, (operand,))

    def _negative_literal(self, sign: Token) -> Expression | None:
        value = self.peek().value
        if self.peek().kind != "literal" or isinstance(value, bool | UInt) or not isinstance(value, int | float):
            return None
        self.take()
        return self._members(Literal(sign.position, -value))

    def member(self) -> Expression:
        return self._members(self.primary())

    def _members(self, operand: Expression) -> Expression:
        while token := self.accept(".", "["):
            optional = self.accept("?") is not None
            if token.kind == "[":
                operand = Index(token.position, operand, self.expression(), optional)
                self.expect("]")
                continue
            name = self.expect("name")
            opening = None if optional else self.accept("(")
            if opening is not None:
                operand = Call(opening.position, name.text, operand, self._arguments())
            else:
                operand = Select(token.position, operand, name.text, optional)
        return operand

    def _arguments(self) -> tuple[Expression, ...]:
        found: list[Expression] = []
        if not self.accept(")"):
            found.append(self.expression())
            while self.accept(","):
                found.append(self.expression())
            self.expect(")")
        return tuple(found)

    def primary(self) -> Expression:
        token = self.take()
        if token.kind == "literal":
            if type(token.value) is int and token.value > 2**63 - 1:
                raise CompileError(token.position, "invalid int literal")
            return Literal(token.position, token.value)
        if token.kind == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token.kind == "[":
            return ListLiteral(token.position, self._elements())
        if token.kind == "{":
            return MapLiteral(token.position, self._entries())
        if token.kind == ".":
            token = self.expect("name")
        if token.kind != "name":
            raise CompileError(token.position, f"Syntax error: mismatched input '{token.text}' expecting an expression")
        opening = self.accept("(")
        if opening is not None:
            return Call(opening.position, token.text, None, self._arguments())
        if token.text in RESERVED:
            raise CompileError(token.position, f"reserved identifier: {token.text}")
        return Name(token.position, token.text)

    def _elements(self) -> tuple[tuple[Expression, bool], ...]:
        found: list[tuple[Expression, bool]] = []
        while not self.accept("]"):
            optional = self.accept("?") is not None
            found.append((self.expression(), optional))
            if not self.accept(","):
                self.expect("]")
                break
        return tuple(found)

    def _entries(self) -> tuple[tuple[Expression, Expression, bool], ...]:
        found: list[tuple[Expression, Expression, bool]] = []
        while not self.accept("}"):
            optional = self.accept("?") is not None
            key = self.expression()
            self.expect(":")
            found.append((key, self.expression(), optional))
            if not self.accept(","):
                self.expect("}")
                break
        return tuple(found)
