"""Headers of records as JSON and as arguments."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli.headers import headers_from_json, headers_to_json, parse_header


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.text(st.characters(exclude_categories=["Cs"])), st.none() | st.binary())))
def test_printed_headers_are_parsed_again(headers: list[tuple[str, bytes | None]]) -> None:
    assert headers_from_json(headers_to_json(headers)) == [
        pair for pair in headers if not pair[0].endswith("_schema_id")
    ]


def test_an_object_of_texts_is_read_too() -> None:
    assert headers_from_json({"trace": "1", "none": None}) == [("trace", b"1"), ("none", None)]
    assert headers_from_json(None) == []


def test_headers_that_name_the_schema_of_another_record_are_left_out() -> None:
    assert headers_from_json([{"key": "__value_schema_id", "hex": "0000000001"}, {"key": "a", "value": "b"}]) == [
        ("a", b"b")
    ]


@pytest.mark.parametrize(
    "value",
    [
        "a",
        1,
        [1],
        [{"key": "a"}],
        [{"key": 1, "value": "b"}],
        [{"key": "a", "value": 1}],
        [{"key": "a", "hex": "zz"}],
        [{"key": "a", "value": "b", "more": 1}],
    ],
)
def test_invalid_lists_of_headers_are_rejected(value: Any) -> None:
    with pytest.raises(UsageError, match=r"headers read|hexadecimal"):
        headers_from_json(value)


def test_an_argument_reads_name_and_value() -> None:
    assert parse_header("trace=a=b") == ("trace", b"a=b")
    for wrong in ("trace", "=b", "__value_schema_id=x"):
        with pytest.raises(ArgumentTypeError):
            parse_header(wrong)
