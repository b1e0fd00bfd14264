"""Provenance header: the records that a record was made from, and the program that made it.

A record has a header ``contractlog.origin`` per record that it was made from, such as
``1;orders/3/42;time=1372636800000;job=enrich``: the version of the format, topic, partition and offset, and optionally
the record's timestamp (milliseconds since 1970, UTC) and the name of the program, percent-encoded, in this order.
Further members of the form ``;name=value`` may follow, which are ignored. Audits find lineage in these headers;
serializers do not need them.

Headers come from whoever may write to the topic, so the parser is bounded and accepts nothing else. Audits parse
columns of headers with ``ORIGIN_PATTERN``, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias
from urllib.parse import quote, unquote

from contractlog.serdes.context import Headers

__all__ = [
    "MAX_JOB_BYTES",
    "MAX_ORIGIN_BYTES",
    "MAX_PARTITION",
    "MAX_TOPIC_CHARACTERS",
    "ORIGIN_HEADER",
    "ORIGIN_PATTERN",
    "ConsumedMessage",
    "RecordOrigin",
    "decode_job",
    "format_origin",
    "parse_origin",
    "provenance_headers",
]

ORIGIN_HEADER: Final = "contractlog.origin"
MAX_ORIGIN_BYTES: Final = 1024
MAX_TOPIC_CHARACTERS: Final = 249  #: of Kafka
MAX_PARTITION: Final = 2**31 - 1
MAX_JOB_BYTES: Final = 128
#: all of a header's value; the same in Python and RE2
ORIGIN_PATTERN: Final = (
    r"1;(?P<topic>[A-Za-z0-9._-]+)/(?P<partition>[0-9]{1,10})/(?P<offset>[0-9]{1,18})"
    r"(?:;time=(?P<time>[0-9]{1,15}))?(?:;job=(?P<job>[!-:<-~]+))?(?:;[a-z]+=[!-:<-~]*)*"
)
_ORIGIN: Final = re.compile(ORIGIN_PATTERN.encode())
_HEADER_PAIR: TypeAlias = "tuple[str, bytes | str | None]"


@dataclass(frozen=True, slots=True)
class RecordOrigin:
    """A record that another one was made from, and the program that did so."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None = None  #: of the record, in milliseconds since 1970, UTC
    job: str = ""  #: name of the program; empty if unknown


class ConsumedMessage(Protocol):
    """A message as returned by a consumer of confluent-kafka."""

    def topic(self) -> str | None:
        """Return the topic."""

    def partition(self) -> int | None:
        """Return the partition."""

    def offset(self) -> int | None:
        """Return the offset."""

    def timestamp(self) -> tuple[int, int]:
        """Return the type of the timestamp (0: there is none) and milliseconds since 1970, UTC."""


def provenance_headers(
    *sources: ConsumedMessage | RecordOrigin, job: str = "", headers: Headers | None = None
) -> list[_HEADER_PAIR]:
    """Return the headers of a record that is made from others, for ``producer.produce(headers=…)``.

    Of several sources of one partition, as in an aggregate, the one with the highest offset is named.

    Args:
        sources: the messages that the record is made from, as consumed; for other clients, their positions.
        job: name of the program, at most ``MAX_JOB_BYTES`` bytes in UTF-8.
        headers: further headers of the record, such as those of its source; origins of the source are left out.

    Raises:
        ValueError: a source is not a consumed message, as it has no position, or the name is too long.
    """
    latest: dict[tuple[str, int], RecordOrigin] = {}
    for source in sources:
        origin = source if isinstance(source, RecordOrigin) else _read_position(source)
        former = latest.setdefault((origin.topic, origin.partition), origin)
        if former.offset < origin.offset:
            latest[origin.topic, origin.partition] = origin
    origins: list[_HEADER_PAIR] = [
        (
            ORIGIN_HEADER,
            format_origin(RecordOrigin(each.topic, each.partition, each.offset, each.timestamp, job or each.job)),
        )
        for each in latest.values()
    ]
    further = headers.items() if isinstance(headers, Mapping) else headers or ()
    return [(name, value) for name, value in further if name != ORIGIN_HEADER] + origins


def _read_position(message: ConsumedMessage) -> RecordOrigin:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    if topic is None or partition is None or offset is None:
        raise ValueError("only a consumed message has a position: this one has no topic, partition or offset")
    kind, timestamp = message.timestamp()
    return RecordOrigin(topic, partition, offset, timestamp if kind and timestamp >= 0 else None)


def format_origin(origin: RecordOrigin) -> bytes:
    """Return the value of a header.

    >>> format_origin(RecordOrigin("orders", 3, 42, 1372636800000, "enrich; mask"))
    b'1;orders/3/42;time=1372636800000;job=enrich%3B%20mask'

    Raises:
        ValueError: the position is none of a record, or the name of the job is too long.
    """
    time = "" if origin.timestamp is None else f";time={origin.timestamp}"
    job = f";job={quote(origin.job, safe='/:@+,')}" if origin.job else ""
    value = f"1;{origin.topic}/{origin.partition}/{origin.offset}{time}{job}".encode()
    if len(origin.job.encode()) > MAX_JOB_BYTES:
        raise ValueError(f"the name of a job has at most {MAX_JOB_BYTES} bytes")
    if parse_origin(value) != origin:
        raise ValueError(f"no record has the position {value.decode()[:MAX_TOPIC_CHARACTERS]!r}")
    return value


def parse_origin(value: bytes | str | None) -> RecordOrigin | None:
    """Return the origin in a header's value; None if the value is not one of this format.

    >>> parse_origin(b"1;orders/3/42")
    RecordOrigin(topic='orders', partition=3, offset=42, timestamp=None, job='')
    """
    data = value.encode() if isinstance(value, str) else value
    matched = _ORIGIN.fullmatch(data) if data is not None and len(data) <= MAX_ORIGIN_BYTES else None
    if matched is None:
        return None
    topic, partition, offset, time, job = matched.groups()
    if len(topic) > MAX_TOPIC_CHARACTERS or int(partition) > MAX_PARTITION:
        return None
    timestamp = None if time is None else int(time)
    return RecordOrigin(topic.decode(), int(partition), int(offset), timestamp, decode_job(job or b""))


def decode_job(encoded: bytes) -> str:
    """Return the name of a job in a header, with its end cut off if it is too long.

    >>> decode_job(b"enrich%20orders")
    'enrich orders'
    """
    name = unquote(encoded.decode("ascii", errors="replace"), errors="replace")
    data = name.encode()
    return name if len(data) <= MAX_JOB_BYTES else data[:MAX_JOB_BYTES].decode(errors="ignore")
