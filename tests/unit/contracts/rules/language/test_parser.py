"""Laws of the parser of rule expressions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.rules.language.expressions import FunctionCall, Identifier, Literal, Select, TextPosition
from contractlog.contracts.rules.language.parser import MAX_DEPTH, MAX_TEXT_LENGTH, parse_expression, parse_rule
from contractlog.contracts.rules.rule_errors import RuleExpressionError


def test_operators_bind_as_in_cel() -> None:
    expression = parse_expression("a || b && c == d + e * -f")
    assert isinstance(expression, FunctionCall)
    names = []
    while isinstance(expression, FunctionCall):
        names.append(expression.function)
        expression = expression.arguments[-1]
    assert names == ["_||_", "_&&_", "_==_", "_+_", "_*_", "-_"]


def test_operators_of_the_same_precedence_bind_to_the_left() -> None:
    expression = parse_expression("1 - 2 - 3")
    assert isinstance(expression, FunctionCall)
    assert isinstance(expression.arguments[0], FunctionCall)


def test_a_long_chain_of_conditions_is_one_node() -> None:
    chain = parse_expression(" && ".join(["a"] * 500))
    assert isinstance(chain, FunctionCall)
    assert len(chain.arguments) == 500


def test_every_node_has_its_position() -> None:
    expression = parse_expression("message.size\n  >= 1")
    assert isinstance(expression, FunctionCall)
    assert expression.at == TextPosition(2, 3)
    assert expression.arguments[0].at == TextPosition(1, 9)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\n\\u00e9\\x41\\101\\U0001F600"', "a\né" + "AA😀"),
        ("r'\\n'", "\\n"),
        ("'''a'b'''", "a'b"),
        ("b'\\xff'", b"\xff"),
        ("-9223372036854775808", -(2**63)),
        ("0x1F", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("18446744073709551615u", 2**64 - 1),
        ("null", None),
        ("true", True),
    ],
)
def test_literals_have_their_values(text: str, value: object) -> None:
    expression = parse_expression(text)
    assert isinstance(expression, Literal)
    assert expression.value == value
    assert (expression.value is True) is (value is True)


@pytest.mark.parametrize(
    ("text", "line", "column", "part"),
    [
        ("a +", 1, 4, "end of the expression"),
        ("a\n  ) b", 2, 3, "Unexpected ')'"),
        ("'abc", 1, 1, "not closed"),
        ("9223372036854775808", 1, 1, "range of int"),
        ("-1u", 1, 2, "negative"),
        ("'\\q'", 1, 1, "no escape"),
        ("a # b", 1, 3, "Unexpected character"),
        ("[1].all(1, true)", 1, 9, "name of a variable"),
        ("has(a)", 1, 1, "name of a field"),
        ("a.if.b ? c : while", 1, 14, "reserved word"),
        ("....a", 1, 1, "Expected an expression"),
    ],
)
def test_a_syntax_error_has_line_and_column(text: str, line: int, column: int, part: str) -> None:
    with pytest.raises(RuleExpressionError) as caught:
        parse_expression(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert part in caught.value.message


def test_the_guard_ends_at_the_first_semicolon_outside_of_strings() -> None:
    guard, body = parse_rule("a == ';' ; b")
    assert isinstance(guard, FunctionCall)
    assert isinstance(body, Identifier)
    assert parse_rule("; b")[0] is None
    with pytest.raises(RuleExpressionError):
        parse_rule("a ; b", with_guard=False)


def test_messages_are_outside_of_the_subset() -> None:
    with pytest.raises(RuleExpressionError) as caught:
        parse_expression("Order{size: 1}")
    assert caught.value.outside_subset


@pytest.mark.parametrize(
    "text", ["(" * 10_000, "-" * 10_000 + "a", "[" * 10_000, "a" + ".b" * 5_000, "!" * 9_999, "a?" * 9_000]
)
def test_deep_nesting_is_an_error_of_the_rule(text: str) -> None:
    with pytest.raises(RuleExpressionError):
        parse_expression(text)


def test_a_long_text_is_an_error_of_the_rule() -> None:
    with pytest.raises(RuleExpressionError):
        parse_expression("a" * (MAX_TEXT_LENGTH + 1))


def test_nesting_within_the_limit_is_allowed() -> None:
    depth = MAX_DEPTH - 1
    assert isinstance(parse_expression("(" * depth + "a" + ")" * depth), Identifier)
    assert isinstance(parse_expression("a" + ".b" * depth), Select)


@given(st.text(alphabet="ab1.'\"\\()[]{}?:,;&|!=<>+-*/%u \n", max_size=60))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    try:
        parse_rule(text)
    except RuleExpressionError as error:
        positions = error.line, error.column
        assert min(positions) >= 1
