"""Limits on the memory of consumers: bytes of a response, and records that are taken at a time.

librdkafka decompresses a response as a whole, and its limits count what was received: with zstd, a kilobyte may become
ten megabytes. So a request fetches little, and records are taken from the client's queue by their bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from confluent_kafka import Message

__all__ = ["PARTITION_BYTES", "RecordQuota", "limit_fetches", "record_size"]

PARTITION_BYTES: Final = (
    64 * 1024
)  #: of a partition in a response, compressed; a larger batch of a producer comes alone
_RESPONSE_BYTES: Final = 256 * 1024  #: of all partitions in a response, compressed
_QUEUE_KBYTES: Final = 16 * 1024  #: decompressed records that wait; above that, nothing is fetched
_QUEUE_PAUSE: Final = 10  #: milliseconds until a full queue is looked at again; the default of 1,000 is for large ones
#: Properties that limit a response; librdkafka requires that the second is at least the first.
_OF_A_RESPONSE: Final = ("message.max.bytes", "fetch.max.bytes")
_FIRST_RECORDS: Final = 100  #: taken before the size of any record is known


def limit_fetches(properties: Mapping[str, Any], partition_bytes: int = PARTITION_BYTES) -> dict[str, Any]:
    """Return the properties of a consumer, with limits where there are none.

    Args:
        properties: those of the user.
        partition_bytes: of a partition in a response.
    """
    limits: dict[str, Any] = {
        "fetch.message.max.bytes": partition_bytes,
        "queued.max.messages.kbytes": _QUEUE_KBYTES,
        "fetch.queue.backoff.ms": _QUEUE_PAUSE,
    }
    if not any(name in properties for name in _OF_A_RESPONSE):
        limits |= dict.fromkeys(_OF_A_RESPONSE, _RESPONSE_BYTES)
    return {**limits, **properties}  # in this order, an alias such as max.partition.fetch.bytes has precedence, too


class RecordQuota:
    """Number of records to take from a client's queue, by the size of those that were taken last.

    Args:
        records: maximum number at a time.
        size: bytes at a time, about.
    """

    def __init__(self, records: int, size: int) -> None:
        self._maximum = records
        self._size = size
        self.records = min(_FIRST_RECORDS, records)  #: to take next

    def update(self, messages: Sequence[Message]) -> None:
        """Set the number of records for the next time."""
        if messages:
            mean_size = sum(map(record_size, messages)) / len(messages)
            self.records = int(min(max(self._size / max(mean_size, 1), 1), self._maximum))


def record_size(message: Message) -> int:
    """Return the bytes of key, value and headers."""
    key = message.key()
    headers: Any = message.headers()
    size = len(message) + (0 if key is None else len(key))
    return size if not headers else size + sum(len(name) + len(value or b"") for name, value in headers)
