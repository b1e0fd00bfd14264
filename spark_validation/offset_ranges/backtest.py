"""Back-test of a range of offsets in one pass, without Spark; returns a state, not the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.audit.backtest_state import (
    ReadabilityState,
    ReadCounts,
    ReadKey,
    ReadOutcome,
    UnreadableCounts,
    UnreadableExample,
    UnreadableKey,
    limit_readability,
)
from contractlog.contracts.audit.mergeable_state import MAX_EXAMPLES, Coverage
from contractlog.contracts.audit.outcomes import Outcome, OutcomeGroup
from contractlog.contracts.audit.report import Part
from contractlog.spark_validation.columnar.column_validation import validate_column
from contractlog.spark_validation.columnar.frames import Frames, Guids, read_frames, read_schema_headers
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.read_failures import ReadFailures, UnreadableCause
from contractlog.spark_validation.columnar.readability import Readability, make_readability
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema, ValidatorCache
from contractlog.spark_validation.record_metadata.timestamps import find_time_range, to_milliseconds
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RangeSource

__all__ = ["BacktestPlan", "PreparedBacktest", "backtest_range"]

Numbers = npt.NDArray[np.int64]
#: outcomes of records that can be decoded, so that the proposed schema is tried on each
_DECODED: Final = (Outcome.CONFORMS, Outcome.LOGICAL_TYPE, Outcome.SCHEMA_VIOLATION)
_BY_GROUP: Final[Mapping[OutcomeGroup, ReadOutcome]] = {
    OutcomeGroup.CONFORMING: ReadOutcome.READABLE,
    OutcomeGroup.VIOLATING: ReadOutcome.VIOLATING,
    OutcomeGroup.TOMBSTONES: ReadOutcome.TOMBSTONE,
    OutcomeGroup.UNAUDITED: ReadOutcome.NOT_USABLE,
}
#: outcomes of records that are not decoded
_OUTCOMES: Final[Mapping[Outcome, ReadOutcome]] = {
    **{outcome: _BY_GROUP[outcome.group] for outcome in Outcome if outcome not in _DECODED},
    Outcome.NOT_FRAMED: ReadOutcome.NOT_FRAMED,
    Outcome.UNKNOWN_SCHEMA_ID: ReadOutcome.OTHER_ID,
}
_NUMBERS: Final = {outcome: number for number, outcome in enumerate(ReadOutcome)}
_BY_NUMBER: Final = tuple(ReadOutcome)
_NUMBER_BITS: Final = 4


@dataclass(frozen=True, slots=True)
class BacktestPlan:
    """Everything that a back-test needs besides the records, as one value that is sent to workers."""

    part: Part
    versions: Mapping[int, ExpectedSchema]  #: the schemas of the subject by id
    guids: Guids  #: their ids by guid
    proposed: SchemaDraft
    referenced: Mapping[str, str]  #: text of every dependency of the proposed schema by name
    limits: ValidationLimits = field(default_factory=ValidationLimits)

    def prepare(self) -> Callable[[RangeSource, OffsetRange], ReadabilityState]:
        """Return the function that reads a range with the proposed schema.

        Raises:
            InvalidSchema: the schema cannot be parsed.
        """
        prepared = PreparedBacktest(self)
        return lambda source, offsets: backtest_range(source, offsets, prepared)

    def merge(self, left: ReadabilityState, right: ReadabilityState) -> ReadabilityState:
        """Return both states combined, within the limits."""
        return limit_readability(left.merge(right))

    def empty(self) -> ReadabilityState:
        """Return the state of no range."""
        return ReadabilityState()


class PreparedBacktest:
    """A plan with its validators and readers, which are prepared on first use.

    Raises:
        InvalidSchema: the proposed schema cannot be parsed.
    """

    def __init__(self, plan: BacktestPlan) -> None:
        self.plan = plan
        self.validators = ValidatorCache(frozenset(plan.versions), plan.versions, plan.limits)
        self._proposed = parse_schema(plan.proposed, plan.referenced, strict=False)
        self._readers: dict[int, Readability] = {}

    def reader(self, schema_id: int) -> Readability:
        """Return the reader of records with a schema id.

        Raises:
            SerializationError: the types of the schemas lead to each other in too long a row.
        """
        if schema_id not in self._readers:
            expected = self.plan.versions[schema_id]
            written = parse_schema(expected.schema.draft, expected.referenced, strict=False)
            self._readers[schema_id] = make_readability(
                written, self._proposed, self.plan.referenced, limits=self.plan.limits
            )
        return self._readers[schema_id]


def backtest_range(source: RangeSource, offsets: OffsetRange, prepared: PreparedBacktest) -> ReadabilityState:
    """Read every record of a range with the proposed schema, and return the state.

    ``backtest_range(A + B) == backtest_range(A).merge(backtest_range(B))``, within the limits of a state.

    Raises:
        Unreachable: the source stopped responding.
    """
    state, records = ReadabilityState(), 0
    for batch in source.read(offsets):
        records += batch.num_rows
        state = limit_readability(state.merge(_read_batch(batch, offsets, prepared)))
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
    return state.merge(ReadabilityState(frozenset({coverage})))


def _read_batch(batch: pa.RecordBatch, offsets: OffsetRange, prepared: PreparedBacktest) -> ReadabilityState:
    bodies = cast("pa.BinaryArray", batch.column(prepared.plan.part))
    header_ids = read_schema_headers(batch.column("headers"), prepared.plan.part)
    guids = prepared.plan.guids
    checked = validate_column(bodies, prepared.validators, None, columns=False, header_ids=header_ids, guids=guids)
    frames = read_frames(bodies, header_ids, guids)
    rows = _BatchRows(offsets, to_milliseconds(batch.column("timestamp")), np.asarray(batch.column("offset")), frames)
    outcomes = np.full(len(bodies), _NUMBERS[ReadOutcome.VIOLATING], np.int64)
    for code, outcome in _OUTCOMES.items():
        outcomes[checked.codes == code] = _NUMBERS[outcome]
    unreadable: dict[UnreadableKey, UnreadableCounts] = {}
    decoded = np.isin(checked.codes, _DECODED)
    for schema_id in np.unique(checked.schema_ids[decoded]).tolist():
        chosen = np.flatnonzero(decoded & (checked.schema_ids == schema_id))
        conforming = checked.codes[chosen] == Outcome.CONFORMS
        reader = prepared.reader(schema_id)
        result = reader.read(frames.data, frames.starts[chosen], frames.ends[chosen], conforming)
        failed = result.causes >= 0
        outcomes[chosen[~failed]] = _NUMBERS[ReadOutcome.READABLE]
        outcomes[chosen[failed & conforming]] = _NUMBERS[ReadOutcome.UNREADABLE]
        result.causes[~conforming] = -1  # an audit reports these
        unreadable.update(rows.group_causes(schema_id, chosen, result, reader))
    return ReadabilityState(counts=rows.count(checked.schema_ids, outcomes), unreadable=unreadable)


@dataclass(frozen=True, slots=True)
class _BatchRows:
    """Positions and times of the records of a batch."""

    offsets: OffsetRange
    times: Numbers
    offset_numbers: Numbers
    frames: Frames

    def count(self, schema_ids: Numbers, outcomes: Numbers) -> dict[ReadKey, ReadCounts]:
        """Count the records by schema id and outcome."""
        counts = {}
        for key, rows in _group((schema_ids << _NUMBER_BITS) | outcomes):
            outcome = _BY_NUMBER[key & ((1 << _NUMBER_BITS) - 1)]
            counts[ReadKey(self.offsets.topic, key >> _NUMBER_BITS, outcome)] = ReadCounts(
                len(rows), *find_time_range(self.times[rows])
            )
        return counts

    def group_causes(
        self, schema_id: int, chosen: npt.NDArray[np.intp], result: ReadFailures, reader: Readability
    ) -> Iterator[tuple[UnreadableKey, UnreadableCounts]]:
        """Yield each cause with its records, of which those at the lowest offsets are examples."""
        causes = list(result.table)
        for number, records in _group(result.causes):
            if number < 0:
                continue
            rows = chosen[records]
            order = np.argsort(self.offset_numbers[rows], kind="stable")
            lowest = rows[order[:MAX_EXAMPLES]].tolist()
            cause = causes[number]
            yield (
                self._key(schema_id, cause),
                UnreadableCounts(
                    len(rows),
                    *find_time_range(self.times[rows]),
                    tuple(self._example(row, reader) for row in lowest),
                    cause.reason or result.details.get(int(records[order[0]]), ""),
                ),
            )

    def _key(self, schema_id: int, cause: UnreadableCause) -> UnreadableKey:
        return UnreadableKey(self.offsets.topic, schema_id, cause.code, cause.pointer, cause.field, cause.reason)

    def _example(self, row: int, reader: Readability) -> UnreadableExample:
        body = self.frames.data[self.frames.starts[row] : self.frames.ends[row]].tobytes()
        return UnreadableExample(self.offsets.partition, int(self.offset_numbers[row]), reader.locate(body))


def _group(keys: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
    """Yield each key, ascending, with the rows that have it."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
    for start, rows in zip(starts, np.split(order, starts[1:]), strict=False):
        yield int(keys[order[start]]), rows
