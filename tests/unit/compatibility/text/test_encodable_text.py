"""Texts that UTF-8 can encode."""

from __future__ import annotations

import pytest

from contractlog.compatibility.text.encodable_text import is_encodable


@pytest.mark.parametrize(
    ("text", "encodable"),
    [("", True), ("é\0😀", True), ("\ud83d", False), (b"\xff".decode(errors="surrogateescape"), False)],
)
def test_half_of_a_surrogate_pair_cannot_be_encoded(text: str, *, encodable: bool) -> None:
    assert is_encodable(text) is encodable
