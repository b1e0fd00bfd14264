"""Laws of the search of regular expressions, with RE2 as oracle."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.rules.evaluation.runtime_values import EvaluationBudget
from contractlog.contracts.rules.pattern.automaton import (
    MAX_CACHED,
    _count_instructions,
    compile_pattern,
    search_pattern,
)
from contractlog.contracts.rules.pattern.parser import PatternSyntaxError, parse_pattern
from contractlog.contracts.rules.rule_errors import RuleEvaluationError

from support.deadlines import hang_guard

ATOMS = st.sampled_from(
    [
        "a",
        "b",
        ".",
        "[ab]",
        "[^a]",
        "\\d",
        "\\w",
        "\\W",
        "\\b",
        "\\B",
        "^",
        "$",
        "x{2}",
        "(?:)",
        "[[:alpha:]]",
        "\\.",
        "[a-c-]",
        "\\pL",
        "\\A",
        "\\z",
        "(?i:A)",
        "\\Qa.\\E",
    ]
)
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{0,2}", "{1,}", "*?", "+?"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=8,
)


@given(PATTERNS, st.lists(st.text(alphabet="abAx1 .\nÉ_", max_size=8), min_size=1, max_size=6))
def test_a_search_has_the_result_of_re2(pattern: str, texts: list[str]) -> None:
    compiled, oracle = compile_pattern(pattern), re2.compile(pattern)
    for text in texts:
        assert compiled.search(text) is (oracle.search(text) is not None), (pattern, text)


@pytest.mark.parametrize("pattern", ["(a+)+b", "(a|a)*b", "(a|aa)+$", "a?" * 30 + "a" * 30 + "b", "(.*)(.*)(.*)(.*)x"])
def test_no_pattern_takes_exponential_time(pattern: str) -> None:
    with hang_guard(20):
        assert not search_pattern("a" * 20_000 + "c", pattern, budget=EvaluationBudget())


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "[a",
        "*a",
        "a**",
        "a{2000}",
        "(?=a)",
        "(?<!a)",
        "\\1",
        "a++",
        "[b-a]",
        "\\p{Greek}",
        "x" * 1001,
        "(?:a{100}){100}",
        "(" * 100 + ")" * 100,
    ],
)
def test_what_re2_does_not_have_is_rejected(pattern: str) -> None:
    with pytest.raises(PatternSyntaxError):
        compile_pattern(pattern)
    with pytest.raises(RuleEvaluationError):
        search_pattern("a", pattern, budget=EvaluationBudget())


@given(PATTERNS)
def test_a_check_of_a_pattern_counts_what_compiling_it_makes(pattern: str) -> None:
    assert len(compile_pattern(pattern)._next) == _count_instructions(parse_pattern(pattern)) + 1


def test_a_pattern_that_reaches_many_states_keeps_few_of_them() -> None:
    pattern = compile_pattern("(a|b)*a(a|b){12}c")
    text = "".join("ab"[number * number % 7 % 2] + "ab"[number % 3 % 2] for number in range(20_000))
    assert not pattern.search(text)
    assert pattern._cached < 2 * MAX_CACHED
