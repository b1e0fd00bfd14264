"""Laws of the budget: an evaluation ends after a number of steps, whatever it does."""

from __future__ import annotations

from typing import Any

import pytest

from contractlog.contracts.rules.evaluation.function_generator import compile_expression
from contractlog.contracts.rules.evaluation.runtime_values import (
    MAX_STEPS,
    EvaluationBudget,
    equal_values,
    export_value,
)
from contractlog.contracts.rules.functions.text_functions import find_last_text, format_text
from contractlog.contracts.rules.language.parser import parse_expression
from contractlog.contracts.rules.language.value_types import INT, STRING, list_of, record_of
from contractlog.contracts.rules.pattern import automaton
from contractlog.contracts.rules.pattern.automaton import Pattern, compile_pattern
from contractlog.contracts.rules.rule_errors import RuleLimitExceeded

from support.deadlines import hang_guard

MESSAGE = record_of("R", lambda: {"l": list_of(INT), "s": STRING, "t": STRING, "names": list_of(STRING)}, closed=False)
RECORD = {
    "l": list(range(30_000)), "s": "a" * 600_000, "t": "a" * 599_999 + "b", "names": [f"n{n}" for n in range(3_000)],
}  # fmt: skip
#: 34 levels, each of which contains the one below twice
NESTED = "[[1]]" + ".map(a, [a, a])" * 34
WIDE = "[1]" + f".map(a, [{', '.join(['a'] * 200)}])" * 4


def run(text: str, *, typed: bool = False, record: Any = RECORD) -> Any:
    types = {"message": MESSAGE} if typed else None
    with hang_guard(20):
        return compile_expression(parse_expression(text), types)({"message": record})


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        f"({NESTED}) == ({NESTED})",
        f"({NESTED}) != ({NESTED})",
        f"({NESTED}) in [({NESTED})]",
        f"{{'a': ({NESTED})}} == {{'a': ({NESTED})}}",
        f"[1].exists(x, ({NESTED}) == ({NESTED})) || true",
        "message.l.all(x, message.l == message.l)",
        "message.l.all(x, message.l != [x])  && message.l.all(x, message == message)",
        "message.l.all(x, [message.l] in [[message.l]] || true)",
        "message.l.all(x, message.s > message.t || true)",
        "message.l.all(x, message.s == message.t || true)",
        "message.l.all(x, message.s.startsWith(message.t) || true)",
        "message.l.all(x, 'aa'.matches(message.names[x % 3000]) || true)",
        "message.l.exists(x, message.s.matches('[^b]{900}[^c]{900}z'))",
        "message.l.exists(x, timestamp(0).getHours(message.s) > 1)",
        f"message.l.all(x, x < 0 || {' || '.join(['x == -1'] * 400)} || true)",
        f"message.l.map(x, [{', '.join(['x'] * 500)}])",
        WIDE,
        f"[1].map(x, {{'a': {WIDE}}})",
        f"'%s'.format([{NESTED}])",
        " || ".join(f"message.s.matches('b{number}')" for number in range(100)),
        " || ".join(f"message.s.lowerAscii().contains('b{number}')" for number in range(100)),
    ],
)
def test_an_evaluation_ends_when_its_steps_are_used_up(text: str, *, typed: bool) -> None:
    with pytest.raises(RuleLimitExceeded):
        run(text, typed=typed)


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "message.l == message.l && message.l.all(x, x in [x])",
        "message.names.all(n, n == message.names[0] || n.startsWith('n') && n < 'o' && n != message.names[0])",
        "message.names.all(n, n.matches('^n[0-9]+$') && n.size() <= message.l.size())",
        "message.s.matches('^a+$') && message.s != message.t && message.s.contains('aa')",
        "message.l.map(x, {'number': x, 'double': [x, x + x]}).size() == 30000",
        "'%s'.format([message.l]).size() > 30000",
        "timestamp(0).getHours('Europe/Zurich') == 1",
    ],
)
def test_what_rules_do_with_large_records_is_within_the_budget(text: str, *, typed: bool) -> None:
    assert run(text, typed=typed) is True


def test_a_result_of_a_million_items_is_within_the_budget() -> None:
    items = list(range(900_000))
    assert run("message.l", record={"l": items}) == items
    assert run("message", record={"l": [{"a": [1, 2]}] * 30_000}) == {"l": [{"a": [1, 2]}] * 30_000}


def test_each_item_that_is_compared_is_a_step() -> None:
    budget = EvaluationBudget()
    assert equal_values(budget, [[1, 2], {"a": [3]}], [[1, 2], {"a": [3]}])
    assert budget.left == MAX_STEPS - 3 - 3 - 2 - 2
    with pytest.raises(RuleLimitExceeded):
        equal_values(EvaluationBudget(2), [1, 2], [1, 2])
    assert not equal_values(EvaluationBudget(0), [1, 2], [1])


def test_a_value_that_a_result_contains_several_times_is_charged_each_time() -> None:
    shared: list[Any] = [[]]
    for _ in range(34):
        shared = [shared, shared]
    for limit in (0, 10, 1_000):
        with pytest.raises(RuleLimitExceeded):
            export_value(EvaluationBudget(limit), shared)
        with pytest.raises(RuleLimitExceeded):
            format_text("%s", [shared], budget=EvaluationBudget(limit))


def test_a_search_takes_fewer_steps_once_its_states_exist() -> None:
    pattern = Pattern("[^a]{30}[^b]{30}z")
    first, second = EvaluationBudget(), EvaluationBudget()
    text = "cdef" * 100
    assert pattern.search(text, first) is pattern.search(text, second) is False
    assert MAX_STEPS - second.left < 10 < MAX_STEPS - first.left
    with pytest.raises(RuleLimitExceeded):
        Pattern("[^a]{900}[^b]{900}z").search("c" * 3_000, EvaluationBudget(10_000))


def test_large_sets_of_characters_take_more_steps() -> None:
    few, many = EvaluationBudget(), EvaluationBudget()
    Pattern("[a-c]{50}z").search("c" * 50, few)
    Pattern(f"[{''.join(chr(code) for code in range(1000, 1600, 2))}]{{50}}z").search(chr(1000) * 50, many)
    assert many.left < few.left


def test_only_the_first_use_of_a_pattern_is_charged_for_its_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automaton, "_COMPILED", type(automaton._COMPILED)(2))
    first, second = EvaluationBudget(), EvaluationBudget()
    compile_pattern("a{500}", first)
    compile_pattern("a{500}", second)
    assert first.left < MAX_STEPS - 50
    assert second.left == MAX_STEPS
    with pytest.raises(RuleLimitExceeded):
        compile_pattern("b{500}", EvaluationBudget(10))


@pytest.mark.parametrize("part", ["", "a", "b", "ab", "ba", "abab", "c", "ababa"])
def test_the_last_position_is_that_of_python(part: str) -> None:
    for text in ("", "a", "ababab", "bab"):
        assert find_last_text(text, part) == text.rfind(part)


def test_conversions_and_positions_take_linear_time() -> None:
    with hang_guard(20):
        record = {"s": "9" * 200_000 + "x", "t": "a" * 1_000_000, "u": "ab" + "a" * 500_000}
        assert run("message.t.lastIndexOf(message.u) == -1", record=record) is True
        assert run("double(message.s) > 1.0 || true", record=record) is True
