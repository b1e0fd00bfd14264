"""Forms of a text are what common functions make of it, hashed as the results are."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.spark_validation.lineage.function_forms import (
    FORM_NAMES,
    MAX_TEXT,
    decode_forms,
    encode_forms,
    hash_forms,
)
from contractlog.spark_validation.lineage.sampling import hash_text

KEY = b"key"


@pytest.mark.parametrize(
    ("text", "form", "result"),
    [
        (" Ab ", "case and spaces", "ab"),
        ("abcdef", "first 3", "abc"),
        ("abcdef", "last 2", "ef"),
        ("AB-1234:x", "before separator 1", "AB"),
        ("AB-1234:x", "before separator 2", "AB-1234"),
        ("AB-1234:x", "after separator 1", "1234:x"),
        ("AB-1234:x", "between separators 1 and 2", "1234"),
        ("12.0 kg", "before separator 2", "12"),
        ("abc", "SHA-256", sha256(b"abc").hexdigest()),
    ],
)
def test_a_form_has_the_hash_of_the_result_of_the_function(text: str, form: str, result: str) -> None:
    assert hash_forms(text, KEY, parts=True)[FORM_NAMES.index(form)] == hash_text(result, KEY) >> 48


def test_long_and_empty_texts_have_no_forms() -> None:
    assert hash_forms("", KEY, parts=True) == hash_forms("a" * (MAX_TEXT + 1), KEY, parts=True) == {}


@given(
    st.dictionaries(
        st.integers(0, 2**32 - 1),
        st.dictionaries(st.integers(0, len(FORM_NAMES) - 1), st.integers(0, 2**16 - 1), min_size=1),
    )
)
def test_forms_are_read_as_they_were_written(forms: dict[int, dict[int, int]]) -> None:
    assert decode_forms(encode_forms(forms)) == forms


@given(st.text(max_size=600), st.booleans())
def test_every_text_has_a_bounded_number_of_forms(text: str, parts: bool) -> None:  # noqa: FBT001 - drawn
    assert hash_forms(text, KEY, parts=parts).keys() <= set(range(len(FORM_NAMES)))
