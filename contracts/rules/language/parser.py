"""Parser of rule expressions: text to tree, within bounds on length, depth and number of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from contractlog.contracts.rules.functions.function_table import FUNCTIONS
from contractlog.contracts.rules.language.expressions import (
    OPERATORS,
    Conditional,
    Expression,
    FunctionCall,
    Identifier,
    Index,
    ListExpression,
    Literal,
    Macro,
    MapExpression,
    Select,
    TextPosition,
)
from contractlog.contracts.rules.language.tokens import TextLines, Token, parse_number, parse_text_literal, scan_tokens
from contractlog.contracts.rules.rule_errors import RuleExpressionError

_Item = TypeVar("_Item")

__all__ = ["MAX_DEPTH", "MAX_TEXT_LENGTH", "parse_expression", "parse_rule"]

MAX_TEXT_LENGTH: Final = 20_000
MAX_DEPTH: Final = 40  #: generated Python nests at most four brackets for each level, and Python allows 200

_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_MACROS: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})
_RESERVED: Final = frozenset(
    {
        "as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop",
        "namespace", "package", "return", "var", "void", "while",
    }
)  # fmt: skip


def parse_expression(text: str) -> Expression:
    """Parse an expression without a guard.

    Raises:
        RuleExpressionError: the text is not an expression, or is too long or too deep.
    """
    parser = _Parser(text)
    expression = parser.parse_whole(frozenset({"end"}))
    _check_depth(expression)
    return expression


def parse_rule(text: str, *, with_guard: bool = True) -> tuple[Expression | None, Expression]:
    """Parse a rule, ``body`` or ``guard ; body``; a semicolon in a string separates nothing.

    Raises:
        RuleExpressionError: see ``parse_expression``.
    """
    parser = _Parser(text)
    if not with_guard or not parser.has_separator:
        return None, parse_expression(text)
    guard = None if parser.at_symbol(";") else parser.parse_whole(frozenset({";"}))
    parser.skip(";")
    body = parser.parse_whole(frozenset({"end"}))
    for part in (guard, body):
        if part is not None:
            _check_depth(part)
    return guard, body


def _check_depth(expression: Expression) -> None:
    """Bound the depth, which nested brackets and chains of operators have."""
    stack = [(expression, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise RuleExpressionError(
                f"The expression is nested more than {MAX_DEPTH} levels deep. Split it into several rules.",
                node.at.line,
                node.at.column,
                outside_subset=True,
            )
        stack.extend((child, depth + 1) for child in node.children)


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_TEXT_LENGTH:
            raise RuleExpressionError(
                f"The expression is longer than {MAX_TEXT_LENGTH:,} characters.", outside_subset=True
            )
        self._lines = TextLines(text)
        self._tokens = scan_tokens(text)
        self._next = 0
        self._depth = 0

    @property
    def has_separator(self) -> bool:
        return any(token.kind == "symbol" and token.text == ";" for token in self._tokens)

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _position(self, token: Token | None = None) -> TextPosition:
        return self._lines.locate((token or self._token).offset)

    def _error(self, message: str, token: Token | None = None, *, outside_subset: bool = False) -> RuleExpressionError:
        at = self._position(token)
        return RuleExpressionError(message, at.line, at.column, outside_subset=outside_subset)

    def at_symbol(self, *symbols: str) -> bool:
        return self._token.kind == "symbol" and self._token.text in symbols

    def _accept(self, symbol: str) -> bool:
        if self.at_symbol(symbol):
            self._next += 1
            return True
        return False

    def skip(self, symbol: str) -> None:
        """Read a symbol that must be next."""
        if not self._accept(symbol):
            raise self._error(f"Expected '{symbol}', not {self._describe_token()}.")

    def _describe_token(self) -> str:
        return "the end of the expression" if self._token.kind == "end" else f"'{self._token.text}'"

    def parse_whole(self, ends: frozenset[str]) -> Expression:
        """Parse up to the end of the text or to a separator."""
        expression = self._expression()
        if self._token.kind not in ends and not (self._token.kind == "symbol" and self._token.text in ends):
            raise self._error(f"Unexpected {self._describe_token()}.")
        return expression

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"The expression is nested more than {MAX_DEPTH} levels deep.", outside_subset=True)
        condition = self._binary(1)
        if self.at_symbol("?"):
            at = self._position()
            self._next += 1
            consequence = self._expression()
            self.skip(":")
            condition = Conditional(at, condition, consequence, self._expression())
        self._depth -= 1
        return condition

    def _operator(self) -> str:
        token = self._token
        is_operator = token.text in OPERATORS and (token.kind == "symbol" or token.text == "in")
        return token.text if is_operator else ""

    def _binary(self, lowest: int) -> Expression:
        left = self._unary()
        while (operator := self._operator()) and OPERATORS[operator] >= lowest:
            at = self._position()
            self._next += 1
            right = self._binary(OPERATORS[operator] + 1)
            name = f"_{operator}_"
            if operator in {"&&", "||"} and isinstance(left, FunctionCall) and left.function == name:
                left = FunctionCall(left.at, name, (*left.arguments, right))
            else:
                left = FunctionCall(at, name, (left, right))
        return left

    def _unary(self) -> Expression:
        signs: list[Token] = []
        while self.at_symbol("!", "-"):
            signs.append(self._token)
            self._next += 1
        if signs and signs[-1].text == "-" and self._token.kind in {"int", "float"}:
            negative = signs.pop()
            operand = self._member(self._number(negative))
        else:
            operand = self._member(self._primary())
        for sign in reversed(signs):
            operand = FunctionCall(self._position(sign), f"{sign.text}_", (operand,))
        return operand

    def _number(self, sign: Token | None) -> Literal:
        token = self._token
        self._next += 1
        try:
            return Literal(self._position(sign or token), parse_number(token.text, negative=sign is not None))
        except ValueError as error:
            raise self._error(f"{error}.", token) from None

    def _member(self, operand: Expression) -> Expression:
        while True:
            if self._accept("."):
                operand = self._access(operand)
            elif self.at_symbol("["):
                at = self._position()
                self._next += 1
                operand = Index(at, operand, self._expression())
                self.skip("]")
            elif self.at_symbol("{") and isinstance(operand, (Identifier, Select)):
                raise self._error("Messages cannot be constructed; write a map.", outside_subset=True)
            else:
                return operand

    def _access(self, operand: Expression) -> Expression:
        token = self._token
        if token.kind != "name":
            raise self._error(f"Expected the name of a field or method after '.', not {self._describe_token()}.")
        self._next += 1
        at = self._position(token)
        if not self._accept("("):
            return Select(at, operand, token.text)
        arguments = self._list(")", self._expression)
        if token.text in _MACROS and len(arguments) > 1:
            return self._macro(token, operand, arguments)
        if isinstance(operand, Identifier) and (name := f"{operand.name}.{token.text}") in FUNCTIONS:
            return FunctionCall(operand.at, name, arguments)
        return FunctionCall(at, token.text, arguments, operand)

    def _macro(self, token: Token, operand: Expression, arguments: tuple[Expression, ...]) -> Macro:
        variable, *parts = arguments
        name, at = token.text, self._position(token)
        if not isinstance(variable, Identifier):
            raise RuleExpressionError(
                f"The first argument of {name}() is the name of a variable.", variable.at.line, variable.at.column
            )
        if len(parts) > (2 if name == "map" else 1):
            raise self._error(f"{name}() has too many arguments.", token)
        if name == "map":
            return Macro(at, name, operand, variable.name, parts[0] if len(parts) > 1 else None, parts[-1])
        return Macro(at, name, operand, variable.name, parts[0], None)

    def _primary(self) -> Expression:
        token = self._token
        at = self._position()
        if token.kind in {"int", "float"}:
            return self._number(None)
        self._next += 1
        if token.kind == "text":
            try:
                return Literal(at, parse_text_literal(token.text))
            except ValueError as error:
                raise self._error(f"{error}.", token) from None
        if token.kind == "name":
            return self._name(token)
        if token.kind == "symbol" and token.text == "." and self._token.kind == "name":
            self._next += 1
            return self._name(self._tokens[self._next - 1])
        if token.kind == "symbol" and token.text in {"(", "[", "{"}:
            return self._brackets(token.text, at)
        self._next -= 1
        raise self._error(f"Expected an expression, not {self._describe_token()}.")

    def _brackets(self, bracket: str, at: TextPosition) -> Expression:
        if bracket == "[":
            return ListExpression(at, self._list("]", self._expression))
        if bracket == "{":
            return MapExpression(at, self._list("}", self._entry))
        expression = self._expression()
        self.skip(")")
        return expression

    def _name(self, token: Token) -> Expression:
        at = self._position(token)
        if token.text in _CONSTANTS:
            return Literal(at, _CONSTANTS[token.text])
        if token.text in _RESERVED:
            raise self._error(f"'{token.text}' is a reserved word.", token)
        if not self._accept("("):
            return Identifier(at, token.text)
        arguments = self._list(")", self._expression)
        if token.text != "has":
            return FunctionCall(at, token.text, arguments)
        if len(arguments) != 1 or not isinstance(arguments[0], Select):
            raise self._error("has() needs one argument that ends with the name of a field: has(message.name).", token)
        return Select(arguments[0].at, arguments[0].operand, arguments[0].field, test_only=True)

    def _entry(self) -> tuple[Expression, Expression]:
        key = self._expression()
        self.skip(":")
        return key, self._expression()

    def _list(self, end: str, parse_item: Callable[[], _Item]) -> tuple[_Item, ...]:
        items: list[_Item] = []
        while not self._accept(end):
            items.append(parse_item())
            if not self._accept(","):
                self.skip(end)
                break
        return tuple(items)
