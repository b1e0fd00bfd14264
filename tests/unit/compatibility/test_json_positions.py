"""Pointers lead to the positions of their values in any JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.json_positions import (
    find_syntax_error,
    locate_pointer,
    locate_pointers,
    position_at_offset,
    split_pointer,
)

from support.deadlines import hang_guard

NAMES = st.text('ab/~{}[]:,"\\ü 0', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def walk(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    yield pointer, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from walk(member, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")


def at(text: str, pointer: str) -> Any:
    """Read the value that begins at a pointer's place."""
    line, column = locate_pointer(text, pointer)
    rest = "\n".join(text.split("\n")[line - 1 :])[column - 1 :]
    return json.JSONDecoder().raw_decode(rest)[0]


@given(VALUES, st.sampled_from([None, 1, 4]), st.booleans())
@settings(deadline=None)
def test_a_pointer_leads_to_its_value(value: Any, indent: int | None, ascii_only: bool) -> None:  # noqa: FBT001
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    for pointer, member in walk(value):
        assert at(text, pointer) == member


@pytest.mark.parametrize(
    ("text", "pointer", "place"),
    [
        ('{"a": {"b": 1}}', "/a/x/y", "1:7"),
        ('{"a": [1, 2]}', "/a/7", "1:7"),
        ('{"a": 1}', "/b", "1:1"),
        ("  5", "/a/b", "1:3"),
        ("", "/a", "1:1"),
        ('{"a": 1, "a": 2}', "/a", "1:15"),
        ('{\n  // {"a": 0}\n  /* {\n */ "a": 1}', "/a", "4:10"),
        ('{"\\u0061": 1}', "/a", "1:12"),
        ('{"a": [', "/a/0", "1:7"),
        ("}}}]]]", "/a", "1:1"),
        ('"unfinished', "/a", "1:1"),
    ],
)
def test_a_pointer_that_leads_nowhere_ends_at_the_deepest_value_on_its_way(text: str, pointer: str, place: str) -> None:
    assert str(locate_pointer(text, pointer)) == place


def test_a_text_of_a_million_brackets_is_walked_without_recursion() -> None:
    assert str(locate_pointer("[" * 300_000, "/0" * 3)) == "1:4"


@given(VALUES, st.sampled_from([None, 1]), st.lists(st.sampled_from(["", "/a", "/0", "/a/0/x", "/b/b"])))
@settings(deadline=None)
def test_many_pointers_lead_where_each_leads_alone(value: Any, indent: int | None, others: list[str]) -> None:
    text = json.dumps(value, indent=indent)
    pointers = [*(pointer for pointer, _ in walk(value)), *others]
    assert locate_pointers(text, pointers) == [locate_pointer(text, pointer) for pointer in pointers]


def test_a_text_is_read_once_for_many_pointers() -> None:
    text = json.dumps({"fields": [{"name": f"f{n}", "type": "int"} for n in range(20_000)]}, indent=1)
    with hang_guard():  # an hour where each reads the text, and tenths of a second where it is read once
        positions = locate_pointers(text, [f"/fields/{n}" for n in range(20_000)])
    assert [position.line for position in positions] == [3 + 4 * n for n in range(20_000)]


def test_lines_and_columns_count_from_one() -> None:
    assert str(position_at_offset("ab\ncd", 0)) == "1:1"
    assert str(position_at_offset("ab\ncd", 4)) == "2:2"


def test_a_syntax_error_has_its_place_and_comments_keep_it() -> None:
    assert find_syntax_error('{"a": 1}', comments=False) is None
    assert find_syntax_error('{"a": }', comments=False) == ("Expecting value", (1, 7))
    assert find_syntax_error('{/* one\n two */ "a": // "\n }', comments=True) == ("Expecting value", (3, 2))
    assert find_syntax_error('{"a": "//"} // fine', comments=True) is None
    assert find_syntax_error("[" * 100_000, comments=False) is None


def test_a_pointer_names_the_text_that_it_leads_into() -> None:
    assert [split_pointer(pointer) for pointer in ("", "/a#b", "leg#", "leg#/a#/b")] == [
        ("", ""),
        ("", "/a#b"),
        ("leg", ""),
        ("leg", "/a#/b"),
    ]


@pytest.mark.parametrize(
    ("text", "pointer", "place"),
    [
        ('{"a": [[1, {"b": 2}], {"]": "}"}], "b": 3}', "/b", "1:41"),
        ('{"a": {"b": 1}, "a": {"b": 2, "b": 3}}', "/a/b", "1:36"),
        ('{"x": ["]", "\\"]"], // ]}\n "a": [0, [5], 7]}', "/a/2", "2:16"),
        ('{"x": /* { */ {"y": [1]}, "a": 1}', "/a", "1:32"),
        ('{"x": [1, 2', "/a", "1:1"),
        ('{"a": {"b": [1, {"c": 2}]}}', "/a/b", "1:13"),
    ],
)
def test_irrelevant_values_are_skipped_without_parsing(text: str, pointer: str, place: str) -> None:
    assert str(locate_pointer(text, pointer)) == place


def test_a_comma_before_a_closing_bracket_is_the_error() -> None:
    assert find_syntax_error('{"a": [1, \n]}', comments=False) == (
        "a comma before a closing bracket is not allowed: remove it",
        (1, 9),
    )
