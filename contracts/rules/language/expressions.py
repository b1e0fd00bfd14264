"""Tree of a rule expression: immutable nodes, each with its position in the text.

Operators are calls named as in CEL's standard, such as ``_+_``, ``_&&_`` or ``!_``; chains of ``&&`` and of ``||`` are
one call with all operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

__all__ = [
    "OPERATORS",
    "Conditional",
    "Expression",
    "FunctionCall",
    "Identifier",
    "Index",
    "ListExpression",
    "Literal",
    "LiteralValue",
    "Macro",
    "MapExpression",
    "Select",
    "TextPosition",
    "UnsignedInt",
    "walk_expression",
]

#: Binary operators of CEL by token, with their precedence; higher binds tighter.
OPERATORS = {
    "||": 1, "&&": 2,
    "<": 3, "<=": 3, ">": 3, ">=": 3, "==": 3, "!=": 3, "in": 3,
    "+": 4, "-": 4,
    "*": 5, "/": 5, "%": 5,
}  # fmt: skip


class UnsignedInt(int):
    """A value of CEL's type ``uint``, which is distinct from ``int``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


LiteralValue = None | bool | int | float | str | bytes


@dataclass(frozen=True, slots=True)
class TextPosition:
    """A position in the text of a rule: line and column, from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Expression:
    """Any node of the tree."""

    at: TextPosition

    @property
    def children(self) -> tuple[Expression, ...]:
        """The direct operands, in the order of the text."""
        return ()


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant; ``uint`` constants are of class ``UnsignedInt``."""

    value: LiteralValue


@dataclass(frozen=True, slots=True)
class Identifier(Expression):
    """A use of a variable, or the name of a type such as ``int``."""

    name: str


@dataclass(frozen=True, slots=True)
class Select(Expression):
    """A field or an entry of a map, ``operand.field``; with ``test_only``, ``has(operand.field)``."""

    operand: Expression
    field: str
    test_only: bool = False

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand."""
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """An item of a list or an entry of a map: ``operand[index]``."""

    operand: Expression
    index: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Operand and index."""
        return (self.operand, self.index)


@dataclass(frozen=True, slots=True)
class FunctionCall(Expression):
    """A call of a function, a method (with a target) or an operator."""

    function: str
    arguments: tuple[Expression, ...]
    target: Expression | None = None

    @property
    def children(self) -> tuple[Expression, ...]:
        """The target, if any, and the arguments."""
        return self.arguments if self.target is None else (self.target, *self.arguments)


@dataclass(frozen=True, slots=True)
class Conditional(Expression):
    """A choice: ``condition ? consequence : alternative``."""

    condition: Expression
    consequence: Expression
    alternative: Expression

    @property
    def children(self) -> tuple[Expression, ...]:
        """Condition, consequence, alternative."""
        return (self.condition, self.consequence, self.alternative)


@dataclass(frozen=True, slots=True)
class ListExpression(Expression):
    """A list: ``[1, 2]``."""

    items: tuple[Expression, ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """The items."""
        return self.items


@dataclass(frozen=True, slots=True)
class MapExpression(Expression):
    """A map: ``{"a": 1}``."""

    entries: tuple[tuple[Expression, Expression], ...]

    @property
    def children(self) -> tuple[Expression, ...]:
        """Keys and values in turn."""
        return tuple(part for entry in self.entries for part in entry)


@dataclass(frozen=True, slots=True)
class Macro(Expression):
    """A comprehension over a list or the keys of a map: all, exists, exists_one, filter, map.

    ``condition`` is the filter of a ``map`` with three arguments, and the only expression of the other macros but
    ``map`` with two.
    """

    name: str
    operand: Expression
    variable: str
    condition: Expression | None
    result: Expression | None

    @property
    def children(self) -> tuple[Expression, ...]:
        """The operand, then the expressions that are evaluated for each element."""
        return (self.operand, *(part for part in (self.condition, self.result) if part is not None))


def walk_expression(expression: Expression) -> Iterator[Expression]:
    """Yield each node, parents first."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
