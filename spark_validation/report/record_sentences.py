"""Sentences about the records of a part: sizes, keys, and steps back in time."""

from __future__ import annotations

from typing import Final

from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.audit.report import KeyStatistics, Part, SizeStatistics, TimeOrder, TopicPart
from contractlog.spark_validation.report.formatters import (
    format_bytes,
    format_count,
    format_duration,
    format_percent,
    format_plural,
)

__all__ = ["describe_records"]

UNEVEN: Final = 2  #: a key is named if its share is certainly more than this many times the average of all keys


def describe_records(part: TopicPart) -> list[str]:
    """Return sentences about the records of a part; none if its state lacks statistics."""
    sentences = []
    sizes = part.get("sizes")
    if sizes is not None:
        sentences.append(_describe_sizes(sizes, part["part"]))
    if "time_order" in part and part["time_order"]["backward"]:
        sentences.append(_describe_time_order(part["time_order"]))
    if "keys" in part and part["records"]:
        sentences += _describe_keys(part["keys"], part["records"])
    return sentences


def _describe_sizes(sizes: SizeStatistics, part: Part) -> str:
    median, high, largest = sizes["quantiles"]["p50"], sizes["quantiles"]["p99"], sizes["largest"]
    most = f"{format_bytes(high)} at the 99th percentile and {format_bytes(largest)} at most"
    if median == largest:
        most = f"{format_bytes(largest)} at most"
    return (
        f"A {part} has {format_bytes(median)} at the median, {most}; all together have {format_bytes(sizes['bytes'])}."
    )


def _describe_time_order(order: TimeOrder) -> str:
    number = order["backward"]
    verb = "is" if number == 1 else "are"
    return (
        f"{format_plural(number, 'record')} {verb} earlier than the record before in the same partition, by "
        f"{format_duration(order['largest_step_ms'])} at most."
    )


def _describe_keys(keys: KeyStatistics, records: int) -> list[str]:
    if keys["null"] == records:
        return ["No record has a key."]
    sampled = "sampled " if keys["distinct_error"] else ""
    without = f"; {format_plural(keys['null'], 'record has', 'records have')} no key" if keys["null"] else ""
    about, distinct = ("about ", _round(keys["distinct"])) if keys["distinct_error"] else ("", keys["distinct"])
    sentences = [f"There are {about}{format_plural(distinct, 'distinct key')}{without}."]
    if not keys["repeated"] and keys["sampled"] > 1:
        sentences.append(f"None of the {format_count(keys['sampled'])} {sampled}keys has a second record.")
    frequent = keys["frequent"][0] if keys["frequent"] else None
    if frequent is not None and frequent["low"] * keys["distinct"] > UNEVEN:
        share = format_percent(round(frequent["share"], 3))
        interval = f"{format_percent(round(frequent['low'], 3))} to {format_percent(round(frequent['high'], 3))}"
        estimated = f" (95 % interval: {interval})" if frequent["low"] < frequent["high"] else ""
        sentences.append(
            f"The most frequent key has {share} of the records with a key{estimated}, such as "
            f"{_describe_position(frequent['example'])}."
        )
    if keys["moved"]:
        first, second = keys["moved_examples"][0]["positions"]
        sentences.append(
            f"{format_count(keys['moved'])} of {format_plural(keys['sampled'], f'{sampled}key')} "
            f"{'occurs' if keys['moved'] == 1 else 'occur'} in more than one partition, so consumers may read their "
            f"records out of order: one is at {_describe_position(first)}, and at {_describe_position(second)}. "
            "Usual causes are a changed number of partitions, producers with different partitioners, and keys that "
            "begin with a schema id."
        )
    return sentences


def _round(number: int) -> int:
    """Return an estimate with three significant digits."""
    return int(float(f"{number:.3g}"))


def _describe_position(position: RecordPosition) -> str:
    return f"partition {position['partition']}, offset {format_count(position['offset'])}"
