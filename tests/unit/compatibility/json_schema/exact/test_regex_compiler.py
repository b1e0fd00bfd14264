"""Supported patterns match as in Python; others have no automaton."""

from __future__ import annotations

import re

import pytest

from contractlog.compatibility.json_schema.exact.regex_compiler import compile_pattern

TEXTS = ("", "a", "b", "aa", "ab", "aab", "abab", "é", "\t", "\n", "1", "-", "a-c", "^$\\.*+?()[]{}|/-")


@pytest.mark.parametrize("mark", "^$\\.*+?()[]{}|/-")
def test_an_escaped_mark_is_itself(mark: str) -> None:
    for pattern in (f"^\\{mark}$", f"^[\\{mark}]$"):
        automaton = compile_pattern(pattern)
        assert automaton is not None
        assert [automaton.match(text)[0] for text in (mark, "a", mark * 2)] == [True, False, False]


@pytest.mark.parametrize(
    "pattern",
    [
        *("a", "^a$", "a|b", "^(?:ab)*$", "^a{2}b?$", "^a{1,}b$", "^a{0}b$", "[^a-b]", "^[ab]+$", "^.$", "^$"),
        *(r"\t", r"\n", r"\x61", r"\u00e9", r"^\d$", r"^\w+$", r"\-", r"^a\-c$", r"[a\-]", r"\^\$\\\.\*\+\?\(\)"),
    ],
)
def test_supported_patterns_match_as_in_python(pattern: str) -> None:
    automaton = compile_pattern(pattern)
    assert automaton is not None
    for text in TEXTS:
        expected = re.search(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), text, re.ASCII) is not None
        assert automaton.match(text)[0] == expected, text


@pytest.mark.parametrize(
    "pattern", [r"\ba", r"(?=a)", r"(a)\1", r"\p{L}", r"\e", r"\ud800", r"\x6", "a**", "(", ")", "[", "{1}", "]", "a\\"]
)
def test_unsupported_patterns_have_no_automaton(pattern: str) -> None:
    assert compile_pattern(pattern) is None
