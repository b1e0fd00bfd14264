"""Rules as English sentences, from the words that functions and operators declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from contractlog.contracts.rules.functions.function_table import FUNCTIONS
from contractlog.contracts.rules.language.expressions import (
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
)

__all__ = ["describe_expression", "describe_rule"]

_MAX_LENGTH: Final = 2_000
#: Words of an operator, and those of its negation.
_RELATIONS: Final[Mapping[str, tuple[str, str]]] = {
    "_==_": ("is", "is not"),
    "_!=_": ("is not", "is"),
    "_<_": ("is less than", "is at least"),
    "_<=_": ("is at most", "is greater than"),
    "_>_": ("is greater than", "is at most"),
    "_>=_": ("is at least", "is less than"),
    "_in_": ("is in", "is not in"),
}
_SIGNS: Final[Mapping[str, str]] = {
    "_+_": "plus", "_-_": "minus", "_*_": "times", "_/_": "divided by", "_%_": "modulo",
}  # fmt: skip
_JUNCTIONS: Final = {"_&&_": "and", "_||_": "or"}
_QUANTIFIERS: Final = {
    "all": ("every {0} in {1} satisfies: {2}", "not every {0} in {1} satisfies: {2}"),
    "exists": ("some {0} in {1} satisfies: {2}", "no {0} in {1} satisfies: {2}"),
    "exists_one": ("exactly one {0} in {1} satisfies: {2}", "not exactly one {0} in {1} satisfies: {2}"),
}
_CURRENT: Final = {"message": "the record", "value": "the value", "now": "the current time"}


def describe_expression(expression: Expression) -> str:
    """Return an expression as a sentence without its capital and full stop: ``size is at least 1``."""
    text = _statement(expression) if _is_statement(expression) else _phrase(expression)
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def describe_rule(guard: Expression | None, body: Expression) -> str:
    """Return a rule as a sentence, after its guard: ``if country is "CH", zip is not null``."""
    sentence = describe_expression(body)
    return sentence if guard is None else f"if {describe_expression(guard)}, {sentence}"


def _is_statement(node: Expression) -> bool:
    """Return true if the expression is a condition by its form."""
    if isinstance(node, FunctionCall):
        function = FUNCTIONS.get(node.function)
        is_test = function is not None and bool(function.negative_words)
        return is_test or node.function in _RELATIONS or node.function in _JUNCTIONS or node.function == "!_"
    if isinstance(node, Macro):
        return node.name in _QUANTIFIERS
    return isinstance(node, Select) and node.test_only


def _statement(node: Expression, *, negated: bool = False) -> str:  # noqa: PLR0911 -- one for each kind of condition
    """Return a condition, or its negation, as a statement."""
    match node:
        case FunctionCall(function="!_"):
            return _statement(node.arguments[0], negated=not negated)
        case FunctionCall() if node.function in _JUNCTIONS:
            return _junction(node, negated=negated)
        case FunctionCall() if node.function in _RELATIONS:
            return _relation(node, negated=negated)
        case FunctionCall() if node.function in FUNCTIONS and FUNCTIONS[node.function].negative_words:
            function = FUNCTIONS[node.function]
            words = function.negative_words if negated else function.words
            return words.format(*map(_phrase, node.children))
        case Macro() if node.name in _QUANTIFIERS and node.condition is not None:
            condition = _statement(node.condition)
            return _QUANTIFIERS[node.name][negated].format(node.variable, _phrase(node.operand), condition)
        case Select(test_only=True):
            return f"{_path(node)} is {'absent' if negated else 'present'}"
    return f"{_phrase(node)} is {'false' if negated else 'true'}"


def _junction(node: FunctionCall, *, negated: bool) -> str:
    word = _JUNCTIONS[node.function]
    if negated:
        word = "or" if word == "and" else "and"
    parts: list[str] = []
    subject = ""
    for argument in node.arguments:
        text = _statement(argument, negated=negated)
        if isinstance(argument, FunctionCall) and argument.function in _JUNCTIONS:
            text = f"({text})"
        start = _subject(argument)
        shortened = start and start == subject and text.startswith(f"{start} ")
        parts.append(text[len(start) + 1 :] if shortened else text)
        subject = start
    return f" {word} ".join(parts)


def _subject(node: Expression) -> str:
    """Return the phrase that a statement begins with, if it is one of a subject and a relation."""
    if isinstance(node, FunctionCall) and (node.function in _RELATIONS or node.target is not None):
        return _phrase(node.children[0])
    return ""


def _relation(node: FunctionCall, *, negated: bool) -> str:
    left, right = node.arguments
    words = _RELATIONS[node.function][negated]
    if node.function == "_in_" and isinstance(right, ListExpression):
        words = "is not one of" if negated else "is one of"
        return f"{_phrase(left)} {words} {', '.join(map(_phrase, right.items))}"
    if isinstance(right, Literal) and right.value == "" and isinstance(right.value, str):
        return f"{_phrase(left)} {words} empty"
    return f"{_phrase(left)} {words} {_phrase(right)}"


def _path(node: Expression) -> str:
    """Return a field by its path from the record."""
    if isinstance(node, Select):
        if isinstance(node.operand, Identifier) and node.operand.name == "message":
            return node.field
        return f"{_path(node.operand)}.{node.field}"
    return _phrase(node)


def _phrase(node: Expression) -> str:  # noqa: C901, PLR0911 -- one for each kind of node
    match node:
        case Literal():
            return _literal(node)
        case Identifier():
            return _CURRENT.get(node.name, node.name)
        case Select(test_only=False):
            return _path(node)
        case Index():
            return f"{_phrase(node.operand)}[{_phrase(node.index)}]"
        case Conditional():
            return f"{_phrase(node.consequence)} if {_statement(node.condition)}, otherwise {_phrase(node.alternative)}"
        case ListExpression():
            return f"[{_join(node.items)}]"
        case MapExpression():
            entries = (f"{_phrase(key)}: {_phrase(value)}" for key, value in node.entries)
            return f"{{{', '.join(entries)}}}"
        case Macro() if node.name in {"filter", "map"}:
            return _list_macro(node)
        case FunctionCall() if node.function in _SIGNS:
            left, right = map(_operand, node.arguments)
            return f"{left} {_SIGNS[node.function]} {right}"
        case FunctionCall(function="-_"):
            return f"minus {_operand(node.arguments[0])}"
        case FunctionCall() if node.function in FUNCTIONS and not _is_statement(node):
            return FUNCTIONS[node.function].words.format(*map(_phrase, node.children))
    if _is_statement(node):
        return f"whether {_statement(node)}"
    return f"{node.function}({_join(node.children)})" if isinstance(node, FunctionCall) else type(node).__name__


def _operand(node: Expression) -> str:
    is_calculation = isinstance(node, FunctionCall) and node.function in _SIGNS
    return f"({_phrase(node)})" if is_calculation else _phrase(node)


def _list_macro(node: Macro) -> str:
    operand = _phrase(node.operand)
    where = "" if node.condition is None else f" for which {_statement(node.condition)}"
    source = f"each {node.variable} of {operand}{where}"
    return (
        f"the items {node.variable} of {operand}{where}"
        if node.result is None
        else f"{_phrase(node.result)} for {source}"
    )


def _join(nodes: Sequence[Expression]) -> str:
    return ", ".join(map(_phrase, nodes))


def _literal(node: Literal) -> str:
    if isinstance(node.value, str):
        return f'"{node.value}"'
    if isinstance(node.value, bool):
        return "true" if node.value else "false"
    return "null" if node.value is None else str(node.value)
