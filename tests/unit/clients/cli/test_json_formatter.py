"""Laying out a text: only the space between its tokens changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.clients.cli.json_formatter import format_json

NAMES = st.text('ab/~{}[]:,"\\ü 0', max_size=3)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(VALUES)
def test_laying_out_changes_nothing_but_space(value: Any) -> None:
    text = json.dumps(value)
    laid = format_json(text)
    assert json.loads(laid) == value
    assert "".join(laid.split()) == "".join(text.split())
    assert format_json(laid) == laid


def test_numbers_keep_their_digits_when_laid_out() -> None:
    assert format_json('{"a":[1.50,1E+2,12345678901234567890123]}') == (
        '{\n  "a": [\n    1.50,\n    1E+2,\n    12345678901234567890123\n  ]\n}\n'
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1 // one\n}',
        '{ "type" : "int" } trailing not json',
        "{'type': 'object', 'title': 'two  spaces', a: .5}",
        '{"a": 1,}',
        '{"a":\u00a01}',
        '"never ends ',
        "not json at all",
        "",
        "[ " * 100_000,
        "[ " * 100_000 + "] " * 100_000,
    ],
    ids=lambda text: text[:20],
)
def test_a_text_that_is_not_plain_json_is_left_alone(text: str) -> None:
    assert format_json(text) == text


def test_a_number_of_many_digits_is_json() -> None:
    assert format_json("[" + "9" * 5_000 + "]") == "[\n  " + "9" * 5_000 + "\n]\n"
