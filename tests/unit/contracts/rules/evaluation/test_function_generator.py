"""Laws of evaluation: results are those of cel-python or, where it departs, of CEL's standard."""

from __future__ import annotations

import traceback
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.contracts.rules.evaluation.function_generator import compile_expression
from contractlog.contracts.rules.language.parser import parse_expression
from contractlog.contracts.rules.language.value_types import (
    BOOL,
    DOUBLE,
    INT,
    STRING,
    ValueType,
    list_of,
    map_of,
    record_of,
)
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

from support.rule_oracle import FAILED, RECORDS, evaluate_with_oracle, expressions

MESSAGE = record_of(
    "R",
    lambda: {
        "i": INT, "j": INT, "d": DOUBLE, "s": STRING, "t": STRING, "b": BOOL, "li": list_of(INT), "ls": list_of(STRING),
        "m": map_of(STRING, INT),
    },
    closed=False,
)  # fmt: skip


def run(text: str, *, types: dict[str, ValueType] | None = None, **variables: Any) -> Any:
    return compile_expression(parse_expression(text), types)(variables)


def run_or_fail(text: str, record: dict[str, Any], types: dict[str, ValueType] | None) -> Any:
    try:
        return run(text, types=types, message=record)
    except RuleEvaluationError:
        return FAILED


def same(left: Any, right: Any) -> bool:
    if isinstance(left, float) and left != left:  # noqa: PLR0124 -- not a number
        return isinstance(right, float) and right != right  # noqa: PLR0124
    return type(left) is type(right) and left == right


@settings(max_examples=300)
@given(
    st.sampled_from(["bool", "bool", "int", "double", "string", "ints", "strings"]).flatmap(
        lambda kind: expressions(kind, 4)
    ),
    RECORDS,
)
def test_a_rule_has_the_result_of_cel_python_with_and_without_types(text: str, record: dict[str, Any]) -> None:
    expected = evaluate_with_oracle(text, record)
    for types in (None, {"message": MESSAGE}):
        assert same(run_or_fail(text, record, types), expected), (text, record, types is None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 == 1.0 && 1 < 1.5 && 1u == 1 && dyn(9007199254740993) != 9007199254740992.0", True),
        ("dyn(true) == dyn(1)", False),
        ("dyn('a') == dyn(1)", False),
        ("[dyn(1)] == [dyn(true)]", False),
        ("[1, 2] == [1.0, 2.0] && {'a': 1} == {'a': 1.0}", True),
        ("dyn(1) in [dyn(true)]", False),
        ("1.0 / 0.0 > 1.0e308 && -1.0 / 0.0 < 0.0", True),
        ("-7 / 2 == -3 && -7 % 2 == -1 && 7 % -2 == 1", True),
        ("has({'a': null}.a) && !has({'a': 1}.b)", True),
        ("[1, 2, 3].map(x, x > 1, x * 2)", [4, 6]),
        ("{'a': 1}.map(k, k)", ["a"]),
        ("'%s has %d of %.2f, %x %X %o %b %% %e'.format(['a', 2, 1.5, 255, 255, 8, 5, 1.5])",
         "a has 2 of 1.50, ff FF 10 101 % 1.500000e+00"),
        ("'%s'.format([['a\"b', 1, true]])", '["a\\"b", 1, true]'),
        ("'AbÉ'.lowerAscii() + 'ab'.upperAscii() + ' x '.trim()", "abÉABx"),
        ("'hello'.substring(1, 3) + 'hello'.charAt(0) + 'a-b'.replace('-', '+')", "elha+b"),
        ("'a,b,c'.split(',') == ['a', 'b', 'c'] && ['a', 'b'].join('-') == 'a-b'", True),
        ("'hello'.indexOf('l') == 2 && 'hello'.lastIndexOf('l') == 3 && 'x'.indexOf('y') == -1", True),
        ("type(1) == int && type('a') == string && type([]) == list && type(type(1)) == type", True),
        ("int('12') + int(1.9) + int(-1.9)", 12),
        ("int(timestamp('2020-01-01T00:00:00Z'))", 1577836800),
        ("double('1e3')", 1000.0),
        ("string(1.0) + string(true) + string(b'a') + string(3u)", "1.0truea3"),
        ("string(timestamp('2020-01-01T02:00:00.5+02:00'))", "2020-01-01T00:00:00.500Z"),
        ("string(duration('1h30m')) + string(duration('-1.5s'))", "5400s-1.5s"),
        ("timestamp('2020-03-05T07:08:09.123Z').getMonth()", 2),
        ("timestamp('2020-03-05T07:08:09.123Z').getDayOfMonth()", 4),
        ("timestamp('2020-03-05T07:08:09.123Z').getDayOfWeek()", 4),
        ("timestamp('2020-03-05T07:08:09.123Z').getDayOfYear()", 64),
        ("timestamp('2020-03-05T07:08:09.123Z').getHours('-05:00')", 2),
        ("timestamp('2020-03-05T07:08:09.123Z').getHours('Europe/Zurich')", 8),
        ("timestamp('2020-03-05T07:08:09.123Z').getMilliseconds()", 123),
        ("duration('3700s').getHours() == 1 && duration('1.5s').getMilliseconds() == 1500", True),
        ("timestamp(1577836800123, 3) - timestamp(1577836800) == duration('123ms')", True),
        ("timestamp('2020-01-01T00:00:00Z') + duration('1h') > timestamp('2020-01-01T00:59:59Z')", True),
        ("'john@example.com'.isEmail() && !'john@'.isEmail() && !'a b@example.com'.isEmail()", True),
        ("'example.com'.isHostname() && !'-a.com'.isHostname() && !'1.2.3.4'.isHostname()", True),
        ("'192.0.2.1'.isIpv4() && !'::1'.isIpv4() && '2001:db8::1'.isIpv6()", True),
        ("'https://a.b/c'.isUri() && !'a/b'.isUri() && 'a/b'.isUriRef()", True),
        ("'2fa1f5c1-4f67-4b93-9f0a-8d1f6c7d9a11'.isUuid() && !'x'.isUuid()", True),
        ("b'ab' + b'c'", b"abc"),
        ("3u + 4u", 7),
        ("true ? 1 : 1 / 0", 1),
    ],
)  # fmt: skip
def test_results_are_those_of_the_standard(text: str, expected: object) -> None:
    assert same(run(text), expected)


@pytest.mark.parametrize(
    "text",
    [
        "9223372036854775807 + 1", "-(-9223372036854775808)", "3u - 4u", "1 / 0", "1 % 0", "[1][1]", "[1][-1]",
        "{'a': 1}.b", "{'a': 1, 'a': 2}", "dyn(1) + dyn(1.0)", "dyn('a') < dyn(1)", "dyn(1) && true", "!dyn(1)",
        "dyn(1) ? 2 : 3", "int('x')", "int(' 1')", "int(1.0e30)", "double('x')", "bool('x')", "uint(-1)",
        "timestamp('2020-01-01')", "duration('x')", "timestamp('9999-12-31T23:59:59Z') + duration('24h')",
        "timestamp(1, 4)", "'abc'.matches(dyn('('))", "'a'.charAt(5)", "'%d'.format(['a'])", "'%d'.format([])",
        "'%q'.format([1])", "'a'.format([1])", "dyn(null).size()", "dyn(5).isIpv4()", "dyn(null).isHostname()",
        "string(dyn(null))", "dyn([1]).join()", "dyn(1).all(x, true)", "dyn(null).a", "'a' in dyn('abc')",
        "timestamp('2020-01-01T00:00:00Z').getHours('../../etc/passwd')",
    ],
)  # fmt: skip
def test_what_has_no_result_is_an_error(text: str) -> None:
    with pytest.raises(RuleEvaluationError):
        run(text)


@pytest.mark.parametrize(
    "text",
    [
        "int(v)", "uint(v)", "double(v)", "bool(v)", "timestamp(v)", "duration(v)", "'a'.matches(v + '(')", "v < 1",
        "timestamp(0).getHours(v)", "{v: 1, v: 2}", "{'a': 1}[v]", "v.format([1])", "-v", "v.b",
        "(v + '%q').format([1])", "'%d'.format([v])", "v + 1", "timestamp('2020-66-66T00:00:00Z').getMonth() == 0",
        "duration('66666666666666h')",
        "string(b'\\xff')", "[v].all(x, x)", "v in v", "'a'.charAt(666)", "[1][-666]", "timestamp(0, 666)",
        "'a'.substring(666)", "timestamp(9223372036854775666)", "dyn(666).a", "{666: 1, 666: 2}", "{1: 1}[666]",
    ],
)  # fmt: skip
def test_a_message_has_no_value_of_a_record(text: str) -> None:
    for variables in ({"v": "2020-66-66T00:00:00Z"}, {"v": "secret 666"}):
        with pytest.raises(RuleEvaluationError) as caught:
            run(text, **variables)
        lines = "".join(traceback.format_exception(caught.value.with_traceback(None)))
        assert "666" not in lines
        assert "secret" not in lines


def test_a_message_has_the_name_in_the_expression_that_is_missing() -> None:
    for types in (None, {"message": MESSAGE}):
        with pytest.raises(RuleEvaluationError, match="There is no 'other'"):
            run("message.other == 1", types=types, message={"i": 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / 0 > 0 || true", True),
        ("true || 1 / 0 > 0", True),
        ("1 / 0 > 0 && false", False),
        ("dyn(1) && false", False),
        ("[0, 1].exists(x, 1 / x > 0)", True),
        ("[0, 1].all(x, 1 / x > 5)", False),
        ("[[0]].exists(y, y.exists(x, 1 / x > 0) || true)", True),
    ],
)
def test_logical_operators_absorb_errors_on_either_side(text: str, *, expected: bool) -> None:
    assert run(text) is expected


@pytest.mark.parametrize("text", ["1 / 0 > 0 || false", "true && 1 / 0 > 0", "[0, 1].all(x, 1 / x > 0)"])
def test_an_error_that_decides_is_raised(text: str) -> None:
    with pytest.raises(RuleEvaluationError):
        run(text)


def test_values_of_serdes_are_read_as_by_the_reference() -> None:
    record = {
        "day": date(1970, 1, 3),
        "id": UUID(int=1),
        "amount": Decimal("12.50"),
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "took": timedelta(seconds=90),
        "days": [date(1970, 1, 2)],
    }
    assert run("message.day == 2 && message.day + 1 == 3", message=record)
    assert run("message.id.endsWith('0001') && message.id == '00000000-0000-0000-0000-000000000001'", message=record)
    assert run("message.amount > 12 && message.amount < 12.75 && message.amount == 12.5", message=record)
    assert run("string(message.amount) == '12.50' && int(message.amount) == 12", message=record)
    assert run("message.at > timestamp('2025-01-01T00:00:00Z') && message.took == duration('90s')", message=record)
    assert run("1 in message.days && message.days.map(d, d + 1) == [2] && message.days[0] == 1", message=record)


def test_a_name_of_a_type_can_be_a_variable() -> None:
    assert run("type + '!'", type="a") == "a!"
    assert run("type(1) == int")


@pytest.mark.parametrize(
    "text",
    [
        "v.all(a, v.all(b, v.all(c, true)))",
        "v.map(a, s + s).size() > 0",
        "v.exists(a, s.contains('b'))",
        "v.exists(a, a in v2 || false)",
        "v.map(a, ('' + s)).size() > 0",
        "v.map(a, s.replace('a', s)).size() > 0",
        "[s].map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x).map(x, x + x)",
        "s.replace('a', s)",
    ],
)
def test_an_evaluation_is_bounded_in_steps_and_memory(text: str) -> None:
    with pytest.raises(RuleLimitExceeded):
        run(text, v=list(range(1000)), v2=list(range(1000, 2000)), s="a" * 100_000)


def test_no_operator_absorbs_the_limit() -> None:
    with pytest.raises(RuleLimitExceeded):
        run("v.all(a, v.all(b, true)) || true", v=list(range(1000)))


def test_no_text_of_a_rule_becomes_source() -> None:
    name = "__import__('os')"
    assert run('message[name] + message[\'"""\\n\\\\\']', message={name: "a", '"""\n\\': "b"}, name=name) == "ab"


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "&&", "||", "==", "<"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_deepest_expression_that_is_parsed_runs(operator: str, side: str) -> None:
    operand = "dyn(true)" if operator in {"&&", "||"} else "a"
    if operator in {"==", "<"}:
        text = f"a {operator} a"
    elif side == "left":
        text = f" {operator} ".join([operand] * 39)
    else:
        text = f"{operand} {operator} (" * 37 + operand + ")" * 37
    for types in (None, {"a": INT}):
        run(text, types=types, a=1)


def test_deep_macros_and_conditionals_run() -> None:
    run("b ? " * 38 + "1" + ": 2" * 38, b=True)
    run("".join(f"[1].map(x{number}, " for number in range(18)) + "x0" + ")" * 18)
    run("!" * 38 + "b", b=True)


@pytest.mark.parametrize("text", ["1 == null", "null == 1", "1 != null", "-1 == null", "true == null", "null == null"])
@pytest.mark.filterwarnings("error")
def test_a_constant_compared_with_null_has_no_warning_of_python(text: str) -> None:
    expected = ("null == null" in text) != ("!=" in text)
    assert compile_expression(parse_expression(text), None)({}) is expected
