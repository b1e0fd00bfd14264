"""Texts that look like personal data are counted by pattern; similar ones are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from contractlog.spark_validation.profiles.personal_data import count_patterns


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("anna@example.org", "e-mail address"),
        ("a.b+c@mail.example.co.uk", "e-mail address"),
        ("anna@example", None),
        ("anna at example.org", None),
        ("4111 1111 1111 1111", "card number"),
        ("4111-1111-1111-1112", None),
        ("5500000000000004", "card number"),
        ("0000000000000000", None),
        ("DE89 3704 0044 0532 0130 00", "IBAN"),
        ("GB29NWBK60161331926819", "IBAN"),
        ("GB29NWBK60161331926818", None),
        ("+49 (30) 901820", "phone number"),
        ("030 901820", None),
        ("192.168.0.1", "IP address"),
        ("192.168.0.256", None),
        ("2001:db8::1", "IP address"),
        ("12:30:45", None),
        ("AA:BB:CC", None),
        ("", None),
    ],
)
def test_a_text_is_recognised(text: str, pattern: str | None) -> None:
    counts = count_patterns(pa.array([text, "plain"]), np.array([3, 5]))
    assert counts == ({} if pattern is None else {pattern: 3})
