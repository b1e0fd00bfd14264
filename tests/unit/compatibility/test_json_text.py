"""JSON is read without loss and within bounds."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import (
    MAX_NESTING,
    Number,
    join_pointer,
    parse_json,
    quote_json,
    to_plain_numbers,
    write_json,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(value=VALUES, sort_keys=st.booleans())
@settings(deadline=None)
def test_written_json_equals_the_parsed_json(value: Any, *, sort_keys: bool) -> None:
    text = json.dumps(value, ensure_ascii=False)
    again = write_json(parse_json(text, comments=True), lambda number: number.text, sort_keys=sort_keys)
    assert to_plain_numbers(parse_json(again)) == json.loads(text)


def test_a_number_is_its_text() -> None:
    number = parse_json("1.50e1")
    assert number == Number("1.50e1")
    assert (number.integral, number.value, number.decimal) == (False, 15.0, Decimal("15.0"))
    assert parse_json("7").value == 7


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_is_counted_before_anything_recurses(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    assert parse_json(opening * MAX_NESTING + "1" * (opening != "[") + closing * MAX_NESTING)
    with pytest.raises(InvalidSchema, match="nested"):
        parse_json(opening * (MAX_NESTING + 1) + "1" + closing * (MAX_NESTING + 1))


def test_brackets_in_strings_and_comments_do_not_nest() -> None:
    brackets = "[" * 200
    assert parse_json(f'"{brackets}"') == brackets
    assert parse_json(f'/* {brackets} " */ "a//b" // {brackets}', comments=True) == "a//b"
    with pytest.raises(InvalidSchema):
        parse_json('// why\n"a"')


@pytest.mark.parametrize(
    "half",
    [chr(0xD800), chr(0xDFFF), r"\ud800", r"\uDFFF", r"\udc00\ud800"],
    ids=["high", "low", "escaped-high", "escaped-low", "swapped"],
)
@pytest.mark.parametrize(
    ("template", "pointer"), [('"%s"', ""), ('{"a": ["é", "%s"]}', "/a/1"), ('[{"%s": "a"}]', "/0"), ('"a%sa"', "")]
)
def test_half_of_a_surrogate_pair_is_refused_where_it_stands(half: str, template: str, pointer: str) -> None:
    with pytest.raises(InvalidSchema, match="surrogate") as refusal:
        parse_json(template % half)
    assert refusal.value.at == pointer


def test_a_whole_surrogate_pair_is_its_character() -> None:
    assert parse_json(r'"\ud83d\ude00"') == parse_json('"\U0001f600"') == "\U0001f600"


@given(TEXT)
@settings(deadline=None)
def test_strings_are_written_so_that_all_json_readers_read_them(text: str) -> None:
    assert json.loads(quote_json(text)) == text


def test_pointers_escape_what_has_a_meaning() -> None:
    assert join_pointer("/a", "x/y", 3, "~") == "/a/x~1y/3/~0"
