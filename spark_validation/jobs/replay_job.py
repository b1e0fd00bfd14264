"""Replay of violating records: read again at their offsets, checked, perhaps corrected, and sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from contractlog.serdes.cli.record_encoder import ProducerRecord
from contractlog.serdes.wire import VALUE_ID_HEADER
from contractlog.spark_validation.violations.corrections import Coordinates, Corrections
from contractlog.spark_validation.violations.violation_selection import (
    RecordMark,
    SelectedRecords,
    ViolationSelection,
    select_records,
)

__all__ = ["REPLAY_FORMAT", "ReplaySummary", "SourceRecord", "replay_records"]

REPLAY_FORMAT: Final = "contractlog.replay/1"
SOURCE_TOPIC: Final = "contractlog.source.topic"  #: headers with the position of the record in its topic, as text
SOURCE_PARTITION: Final = "contractlog.source.partition"
SOURCE_OFFSET: Final = "contractlog.source.offset"
MAX_NAMED: Final = 10  #: records that the summary names


class SourceRecord(NamedTuple):
    """A record as it is in its topic."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int | None  #: milliseconds
    headers: list[tuple[str, bytes | None]]


ReadRange = Callable[[str, int, int, int], Iterator[SourceRecord]]
"""Reads the records of a topic and a partition from an offset to another (exclusive)."""


@dataclass(slots=True)
class ReplaySummary:
    """Counts of a replay; every selected record is in one of them."""

    selected: int = 0
    sent: int = 0  #: those corrected included
    corrected: int = 0
    uncorrected: int = 0  #: without a line in the file of corrections, and not sent
    missing: list[Coordinates] = field(default_factory=list)  #: the first that the log no longer has
    missing_count: int = 0
    changed: list[Coordinates] = field(default_factory=list)  #: the first whose bytes are not those of the report
    changed_count: int = 0
    codes: Counter[str] = field(default_factory=Counter)  #: of the selected violations
    matched: int = 0  #: corrections of selected records
    unmatched: int = 0  #: corrections of records that were not selected

    @property
    def is_complete(self) -> bool:
        """True if every selected record, and every correction, was sent."""
        return not (self.missing_count or self.changed_count or self.unmatched)

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "selected": self.selected,
            "sent": self.sent,
            "corrected": self.corrected,
            "uncorrected": self.uncorrected,
            "missing": self.missing_count,
            "changed": self.changed_count,
            "unmatched_corrections": self.unmatched,
            "codes": dict(sorted(self.codes.items())),
            "first_missing": [each._asdict() for each in self.missing],
            "first_changed": [each._asdict() for each in self.changed],
        }


def replay_records(
    folder: Path,
    selection: ViolationSelection,
    read: ReadRange,
    send: Callable[[ProducerRecord], object],
    *,
    corrections: Corrections | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> ReplaySummary:
    """Send the selected records of a report, in order of their partition and offset.

    Args:
        folder: the violations of the report.
        selection: the violations whose records are sent.
        read: reads records of the source.
        send: sends a record; for a dry run, it does nothing.
        corrections: corrected values; records without one are then not sent.
        stopped: returns True to end early.

    Raises:
        UsageError: the violations cannot be read.
        ContractlogError: a record cannot be read or sent.
    """
    summary = ReplaySummary()
    for selected in select_records(folder, selection):
        summary.codes.update(selected.codes)
        for start, end in selected.runs():
            records = takewhile(lambda _: not stopped(), read(selected.topic, selected.partition, start, end))
            _replay_run(summary, selected, (start, end), records, send=send, corrections=corrections)
            if stopped():
                return summary
    if corrections is not None:
        summary.unmatched = len(corrections) - summary.matched
    return summary


def _replay_run(
    summary: ReplaySummary,
    selected: SelectedRecords,
    run: tuple[int, int],
    records: Iterable[SourceRecord],
    *,
    send: Callable[[ProducerRecord], object],
    corrections: Corrections | None,
) -> None:
    first, last = np.searchsorted(selected.offsets, run).tolist()
    summary.selected += last - first
    if corrections is not None:
        positions = (
            Coordinates(selected.topic, selected.partition, at) for at in selected.offsets[first:last].tolist()
        )
        summary.matched += sum(position in corrections for position in positions)
    index = first
    for record in records:
        while index < last and selected.offsets[index] < record.offset:
            _add_missing(summary, selected, index)
            index += 1
        if index == last or selected.offsets[index] != record.offset:
            continue
        coordinates = Coordinates(selected.topic, selected.partition, record.offset)
        if not _is_same(record, selected.marks_of(index)):
            summary.changed_count += 1
            summary.changed += [coordinates] if len(summary.changed) < MAX_NAMED else []
        elif corrections is not None and coordinates not in corrections:
            summary.uncorrected += 1
        else:
            send(_make_record(record, coordinates, corrections))
            summary.sent += 1
            summary.corrected += corrections is not None
        index += 1
    for nth in range(index, last):
        _add_missing(summary, selected, nth)


def _add_missing(summary: ReplaySummary, selected: SelectedRecords, index: int) -> None:
    summary.missing_count += 1
    if len(summary.missing) < MAX_NAMED:
        summary.missing.append(Coordinates(selected.topic, selected.partition, int(selected.offsets[index])))


def _is_same(record: SourceRecord, marks: list[RecordMark]) -> bool:
    return all(mark.matches(record.key if mark.part == "key" else record.value) for mark in marks)


def _make_record(record: SourceRecord, coordinates: Coordinates, corrections: Corrections | None) -> ProducerRecord:
    """Return the record to send: with its key, time and headers, and with headers that name its source."""
    value, headers = record.value, record.headers
    if corrections is not None:
        value = corrections.encode(coordinates)
        headers = [header for header in headers if header[0] != VALUE_ID_HEADER]  # the new value has a prefix
    source = [
        (SOURCE_TOPIC, coordinates.topic.encode()),
        (SOURCE_PARTITION, str(coordinates.partition).encode()),
        (SOURCE_OFFSET, str(coordinates.offset).encode()),
    ]
    origin = f" (from {coordinates.topic} partition {coordinates.partition} offset {coordinates.offset})"
    return ProducerRecord(record.key, value, record.timestamp, [*headers, *source], origin)
