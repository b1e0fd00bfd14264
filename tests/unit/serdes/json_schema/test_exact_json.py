"""JSON numbers keep their value as far as Python can represent it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.serdes.json_schema.exact_json import compact_json, count_nones, find_lost_number, read_document

INTEGERS = st.integers() | st.integers(-(10**300), 10**300)
NUMBERS = INTEGERS | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text() | INTEGERS.map(str) | INTEGERS.map(lambda number: f'"{number}\\')
DOCUMENTS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.integers(0, 1))
def test_documents_are_read_exactly(document: Any, ascii_only: int) -> None:
    text = json.dumps(document, ensure_ascii=bool(ascii_only)).encode(errors="replace")
    read = read_document(text)
    assert repr(read) == repr(json.loads(text))
    assert repr(read_document(compact_json(read).encode())) == repr(read)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551617", 2**64 + 1),
        ("-9223372036854775809", -(2**63) - 1),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551617.0", float(2**64)),
        ("18446744073709551617e0", float(2**64)),
        ("0.18446744073709551617", 0.18446744073709551617),
        ('{"a": 18446744073709551617, "a": "18446744073709551617"}', {"a": "18446744073709551617"}),
        ("1" * 309, int("1" * 309)),
        (f"[{'1' * 400_000}.5e-399999]", [1.1111111111111112]),
    ],
)
def test_integers_are_integers_and_the_others_floats(text: str, value: Any) -> None:
    read = read_document(text.encode())
    assert (type(read), read) == (type(value), value)


def test_integers_are_exact_in_documents_as_deep_as_are_read() -> None:
    document = read_document(b"[" * 1000 + b"18446744073709551617" + b"]" * 1000)
    while isinstance(document, list):
        (document,) = document
    assert document == 2**64 + 1


@pytest.mark.parametrize("text", [b"1" * 400, b"1" * 10_000_000, b"18446744073709551617x", b"NaN"])
def test_numbers_beyond_floats_are_rejected(text: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_document(text)


@dataclass
class Wind:
    speed: float
    gusts: tuple[float, ...] = ()


class Gust(Enum):
    UNKNOWN = float("nan")
    NONE = None


@pytest.mark.parametrize(
    ("given", "steps"),
    [
        (float("nan"), ()),
        ({"a": [1.0, None, float("-inf")]}, ("a", 2)),
        (Wind(1.0, (2.0, float("inf"))), ("gusts", 1)),
        ([Gust.NONE, Gust.UNKNOWN], (1,)),
        ({"a": None, "b": [Gust.NONE], "c": {}}, None),
        (orjson.Fragment(b'{"a": null}'), None),
    ],
)
def test_numbers_that_became_null_are_found(given: Any, steps: tuple[str | int, ...] | None) -> None:
    assert find_lost_number(given, orjson.loads(orjson.dumps(given))) == steps


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_each_none_of_a_document_is_counted(document: Any) -> None:
    def count(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return (value is None) + sum(map(count, inner))

    assert count_nones(document) == count(document)


def test_a_none_inside_a_value_of_another_class_is_not_counted() -> None:
    class Own(dict[str, Any]):
        pass

    assert count_nones([None, {"a": None}, (None,), Own(a=None), float("nan")]) == 2
