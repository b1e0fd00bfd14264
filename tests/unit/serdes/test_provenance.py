"""The provenance header is read as it was written, and nothing else is read as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.serdes.provenance import (
    MAX_JOB_BYTES,
    MAX_ORIGIN_BYTES,
    ORIGIN_HEADER,
    RecordOrigin,
    format_origin,
    parse_origin,
    provenance_headers,
)

TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True)
JOBS = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda job: len(job.encode()) <= MAX_JOB_BYTES)
ORIGINS = st.builds(
    RecordOrigin,
    TOPICS,
    st.integers(0, 2**31 - 1),
    st.integers(0, 10**18 - 1),
    st.none() | st.integers(0, 10**15 - 1),
    JOBS,
)


@dataclass(frozen=True)
class Message:
    """A message with the methods of confluent-kafka's."""

    position: tuple[str | None, int | None, int | None]
    time: tuple[int, int] = (1, 5_000)

    def topic(self) -> str | None:
        return self.position[0]

    def partition(self) -> int | None:
        return self.position[1]

    def offset(self) -> int | None:
        return self.position[2]

    def timestamp(self) -> tuple[int, int]:
        return self.time


@given(ORIGINS)
def test_an_origin_is_read_as_it_was_written(origin: RecordOrigin) -> None:
    value = format_origin(origin)
    assert len(value) <= MAX_ORIGIN_BYTES
    assert parse_origin(value) == parse_origin(value.decode()) == origin


@given(st.binary() | st.from_regex(rb"1;[A-Za-z/.]*/[0-9]*/[0-9]*(;[a-z=0-9%;\n]*)?"))
def test_any_other_bytes_are_no_origin_or_a_bounded_one(value: bytes) -> None:
    origin = parse_origin(value)
    assert origin is None or (
        len(origin.topic) <= 249
        and 0 <= origin.partition < 2**31
        and 0 <= origin.offset < 10**18
        and len(origin.job.encode()) <= MAX_JOB_BYTES
        and parse_origin(format_origin(origin)) == origin
    )


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"2;orders/3/42",
        b"1;orders/3",
        b"1;orders/-1/42",
        b"1;orders/3/42\n",
        b"1;orders/3/42;",
        b"1;orders/2147483648/42",
        b"1;orders/3/1000000000000000000",
        b"1;or\x1bders/3/42",
        "1;orders/٣/42".encode(),
        b"1;" + b"a" * 250 + b"/3/42",
        b"1;orders/3/42;job=" + b"a" * MAX_ORIGIN_BYTES,
    ],
)
def test_values_of_another_form_are_no_origins(value: bytes) -> None:
    assert parse_origin(value) is None


def test_members_of_later_releases_are_ignored() -> None:
    assert parse_origin(b"1;orders/3/42;job=a;cluster=b;x=") == RecordOrigin("orders", 3, 42, None, "a")
    assert parse_origin(b"1;orders/3/42;time=") == RecordOrigin("orders", 3, 42)


def test_a_job_is_cut_at_a_limit() -> None:
    origin = parse_origin(b"1;orders/3/42;job=" + b"%C3%A9" * 100)
    assert origin is not None
    assert origin.job == "é" * (MAX_JOB_BYTES // 2)


def test_a_message_is_named_with_its_time_and_the_job() -> None:
    assert provenance_headers(Message(("orders", 3, 42)), job="enrich") == [
        (ORIGIN_HEADER, b"1;orders/3/42;time=5000;job=enrich")
    ]
    assert provenance_headers(Message(("orders", 3, 42), (0, -1))) == [(ORIGIN_HEADER, b"1;orders/3/42")]


def test_a_join_names_all_its_sources_and_an_aggregate_the_last_of_each_partition() -> None:
    sources = [Message(("a", 0, 9)), RecordOrigin("b", 1, 4, job="other"), Message(("a", 0, 7)), Message(("a", 1, 1))]
    assert [value for _, value in provenance_headers(*sources)] == [
        b"1;a/0/9;time=5000",
        b"1;b/1/4;job=other",
        b"1;a/1/1;time=5000",
    ]


def test_origins_of_the_source_are_not_passed_on() -> None:
    headers = [(ORIGIN_HEADER, b"1;older/0/1"), ("traceparent", b"00-1"), ("note", None)]
    for further in (headers, dict(headers)):
        assert provenance_headers(RecordOrigin("orders", 0, 1), headers=further) == [
            ("traceparent", b"00-1"),
            ("note", None),
            (ORIGIN_HEADER, b"1;orders/0/1"),
        ]


@pytest.mark.parametrize("position", [(None, 0, 1), ("a", None, 1), ("a", 0, None), ("a", 0, -1001), ("a/b", 0, 1)])
def test_a_message_that_was_not_consumed_is_rejected(position: tuple[str | None, int | None, int | None]) -> None:
    with pytest.raises(ValueError, match="position"):
        provenance_headers(Message(position))


def test_a_long_name_of_a_job_is_rejected() -> None:
    with pytest.raises(ValueError, match="at most 128 bytes"):
        format_origin(replace(RecordOrigin("a", 0, 1), job="é" * 65))
