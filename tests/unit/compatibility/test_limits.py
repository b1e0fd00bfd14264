"""Limits on the length of texts in messages."""

from __future__ import annotations

import pytest

from contractlog.compatibility.limits import truncate, truncate_message


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("abc", "abc"), ("abcd", "abc…")])
def test_a_text_over_the_maximum_ends_in_an_ellipsis(text: str, shown: str) -> None:
    assert truncate(text, 3) == shown


def test_a_message_of_any_length_is_cut() -> None:
    assert truncate_message("x" * 500) == "x" * 500
    assert truncate_message("x" * 10_000) == "x" * 500 + "…"
