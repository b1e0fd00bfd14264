"""Entries of a report as they are published: small enough for a request to the registry."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from contractlog.contracts.audit.report import FieldEntry, SeriesPoint, TopicPart, ViolatingRecord, ViolationLine

__all__ = ["MAX_BYTES", "shorten_entry"]

MAX_BYTES: Final = (
    900_000  #: of an entry, or of several lineage events; a registry accepts requests of one mebibyte by default
)
_DAY: Final = len("2013-07-01")
MAX_LINES: Final = 100  #: kinds of violation in an entry that is too large otherwise


def shorten_entry(entry: TopicPart, max_bytes: int = MAX_BYTES) -> TopicPart:
    """Return an entry with as many examples as fit; counts per part, partition and schema always stay."""
    for shortened in _shorter_entries(entry):
        entry = shortened
        if len(json.dumps(entry)) <= max_bytes:
            break
    return entry


def _shorter_entries(entry: TopicPart) -> Iterator[TopicPart]:
    """Yield an entry and shorter forms of it, each without something of less importance."""
    yield entry
    yield (entry := _with_examples(entry, lambda examples: examples[:1]))
    yield (entry := _with_examples(entry, lambda examples: [_without_evidence(example) for example in examples]))
    yield (entry := _with_fields(entry, [_without_values(each) for each in entry["fields"]]))
    yield (entry := _with_fields(entry, []))
    series = _sum_days(entry["series"])
    yield {**entry, "series": series}
    yield {**entry, "series": series, "violations": entry["violations"][:MAX_LINES]}


def _sum_days(series: Sequence[SeriesPoint]) -> list[SeriesPoint]:
    """Return the sum of each day's hours; longer windows stay as they are."""
    days: dict[tuple[str, int | None], SeriesPoint] = {}
    for point in series:
        window = point["window"][:_DAY]
        total = days.setdefault((window, point["schema_id"]), {**point, "window": window, "records": 0, "violating": 0})
        total["records"] += point["records"]
        total["violating"] += point["violating"]
    return list(days.values())


def _with_examples(
    entry: TopicPart, change: Callable[[Sequence[ViolatingRecord]], Sequence[ViolatingRecord]]
) -> TopicPart:
    lines: list[ViolationLine] = [{**line, "examples": list(change(line["examples"]))} for line in entry["violations"]]
    return {**entry, "violations": lines}


def _with_fields(entry: TopicPart, fields: list[FieldEntry]) -> TopicPart:
    return {**entry, "fields": fields}


def _without_values(entry: FieldEntry) -> FieldEntry:
    return {**entry, "listed": [], "bins": None}


def _without_evidence(example: ViolatingRecord) -> ViolatingRecord:
    return {**example, "key": "", "headers": [], "decoded": "", "excerpt": ""}
