"""Audit of a range of offsets in one pass, in this process; returns a state, not the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.contracts.audit.mergeable_state import (
    MAX_EXAMPLES,
    MAX_FIELDS,
    MAX_UNKNOWN_IDS,
    NO_TIMESTAMP,
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    limit_state,
)
from contractlog.contracts.audit.outcomes import FIRST_VIOLATION, Outcome
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.contracts.audit.value_samples import make_design
from contractlog.spark_validation.columnar.column_validation import ColumnOutcomes, validate_column
from contractlog.spark_validation.columnar.frames import Guids, read_schema_headers
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations, PartExpectation
from contractlog.spark_validation.expectations.tagged_fields import TaggedNames, find_tagged_names
from contractlog.spark_validation.lineage.sampling import sample_fields
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.profiles.field_profiler import profile_fields
from contractlog.spark_validation.record_metadata.origin_headers import OriginCounter
from contractlog.spark_validation.record_metadata.producers import BatchProducers, read_producers
from contractlog.spark_validation.record_metadata.record_counter import RecordCounter
from contractlog.spark_validation.record_metadata.timestamps import NO_TIME, find_time_range, to_milliseconds
from contractlog.spark_validation.rules.checked_validators import RuleCheckedValidators
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RangeSource
from contractlog.spark_validation.violations.example_evidence import ExampleReader
from contractlog.spark_validation.violations.violations_file import DEFAULT_MAX_BYTES, ViolationsFile

__all__ = ["audit_range"]

Numbers = npt.NDArray[np.int64]
HOUR: Final = 3_600_000
MAX_CELLS: Final = 100_000  #: of a range; if there are more, their windows are merged before the next batch is read
_NO_HOUR: Final = 1 << 40  #: after all hours of the years 1 to 9999
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - for text without a time zone
_MAX_HOURS: Final = 1 << 16  #: between the first and the last of a batch; if there are more, they are sorted
_DEFAULT_EVIDENCE: Final = EvidenceOptions()


def audit_range(
    source: RangeSource,
    offsets: OffsetRange,
    expectations: AuditExpectations,
    violations: Path | None = None,
    *,
    cap: int | None = DEFAULT_MAX_BYTES,
    evidence: EvidenceOptions = _DEFAULT_EVIDENCE,
) -> AuditState:
    """Validate every record of a range against the schema whose id it carries, and return the state.

    Args:
        source: source of the records.
        offsets: the range; ``audit_range(A + B) == audit_range(A).merge(audit_range(B))``.
        expectations: the expected schemas.
        violations: an existing folder, in which a file with every violating record is written.
        cap: maximum number of bytes of a violating key or value in that file; None: all.
        evidence: what the state holds about who wrote the records, and about examples of violations.

    Raises:
        Unreachable: the source stopped responding.
    """
    state = AuditState()
    patterns = evidence.patterns_of(offsets.topic)
    checks = {part: _PartCheck.of(expectations, offsets.topic, part) for part in PARTS}
    counter = RecordCounter(offsets, checks["key"].guids if checks["key"].expectation.audited else None)
    origins = OriginCounter(offsets.partition)
    with ExitStack() as stack:
        file = None if violations is None else stack.enter_context(ViolationsFile(violations, offsets, cap=cap))
        for batch in source.read(offsets):
            producers = read_producers(batch.column("headers"), evidence.producer_headers)
            times, offset_numbers = to_milliseconds(batch.column("timestamp")), np.asarray(batch.column("offset"))
            counter.add(batch, offset_numbers, times)
            origins.add(batch, offset_numbers, times)
            for part in PARTS:
                checked = _validate_batch(batch, part, expectations, checks[part], profiles=evidence.profiles)
                counted_producers = producers if part == "value" or checks[part].expectation.audited else None
                reader = ExampleReader(
                    batch, part, checked, checks[part].validators, checks[part].guids, producers, evidence.show_values
                )
                checked_batch = _CheckedBatch(
                    offsets, part, checked, times, offset_numbers, counted_producers, reader, checks[part].tagged
                )
                batch_state = checked_batch.state(state, samples=expectations.samples, sample_key=evidence.sample_key)
                state = state.merge(batch_state)
                if evidence.profiles:
                    profiles = profile_fields(
                        checked.columns,
                        show_values=evidence.show_values,
                        patterns=patterns if part == "value" else {},
                    )
                    state = state.merge(
                        AuditState(
                            profiles={(offsets.topic, part, name): profile for name, profile in profiles.items()}
                        )
                    )
                if file is not None:
                    file.add(batch, part, checked)
            if len(state.cells) > MAX_CELLS:
                state = limit_state(state)
    statistics = counter.result()
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, statistics.records)
    topic_origins = {} if origins.result().empty else {offsets.topic: origins.result()}
    rules = {
        key: counts
        for part in PARTS
        for key, counts in checks[part].validators.count_rules(offsets.topic, part).items()
    }
    range_state = AuditState(
        frozenset({coverage}), statistics={offsets.topic: statistics}, origins=topic_origins, rules=rules
    )
    return limit_state(state.merge(range_state))


@dataclass(frozen=True, slots=True)
class _PartCheck:
    """Everything that the records of one part are checked against."""

    expectation: PartExpectation
    validators: RuleCheckedValidators
    guids: Guids
    names: Mapping[int, str]  #: descriptions of ids of wrong subjects
    tagged: TaggedNames  #: fields that schemas tag

    @classmethod
    def of(cls, expectations: AuditExpectations, topic: str, part: Part) -> _PartCheck:
        validators = RuleCheckedValidators(
            expectations.validators(topic, part), expectations.schemas, partial(expectations.subjects_of, topic, part)
        )
        return cls(
            expectations.parts[topic, part],
            validators,
            expectations.guids_of(topic, part),
            expectations.wrong_subjects(topic, part),
            find_tagged_names(expectations.schemas_of(topic, part)) if expectations.samples else TaggedNames(),
        )


def _validate_batch(
    batch: pa.RecordBatch, part: Part, expectations: AuditExpectations, check: _PartCheck, *, profiles: bool
) -> ColumnOutcomes:
    bodies = batch.column(part)
    if check.expectation.audited:
        return validate_column(
            cast("pa.BinaryArray", bodies),
            check.validators,
            check.expectation.allowed,
            columns=expectations.samples or profiles,
            header_ids=read_schema_headers(batch.column("headers"), part),
            guids=check.guids,
            names=check.names,
        )
    absent = np.asarray(bodies.is_null())
    codes = np.where(absent, Outcome.TOMBSTONE, Outcome.UNAUDITED).astype(np.uint8)
    return ColumnOutcomes(codes, np.zeros(len(codes), np.int64), np.full(len(codes), -1, np.int32), [], {}, [])


@dataclass(frozen=True, slots=True)
class _CheckedBatch:
    """The records of a batch with the outcomes of one part."""

    offsets: OffsetRange
    part: Part
    checked: ColumnOutcomes
    times: Numbers
    offset_numbers: Numbers
    producers: BatchProducers | None
    examples: ExampleReader
    tagged: TaggedNames  #: fields of which samples keep only hashes

    def state(self, previous: AuditState, *, samples: bool, sample_key: str) -> AuditState:
        """Return the state of the batch, without what the state of previous batches would replace when merged.

        Args:
            previous: the state of previous batches.
            samples: whether values are sampled.
            sample_key: the secret key of the samples; empty: the public one.
        """
        topic, part, checked = self.offsets.topic, self.part, self.checked
        sampled = [column for column in checked.columns if samples and not pa.types.is_null(column.values.type)]
        fields = sorted({column.field for column in sampled})
        stored_fields = frozenset(fields[:MAX_FIELDS])
        columns = [column for column in sampled if column.field in stored_fields]
        sample_times = np.where(self.times == NO_TIME, 0, self.times)
        stored = {
            field: previous.samples[topic, part, field]
            for field in stored_fields
            if (topic, part, field) in previous.samples
        }
        values = sample_fields(
            columns,
            sample_times,
            self.offsets.partition,
            self.offset_numbers,
            make_design(sample_key),
            secret=sample_key,
            previous=stored,
            is_private=self.tagged.contain,
        )
        return AuditState(
            cells=self._count_cells(),
            violations=self._count_violations(previous.violations),
            samples={(topic, part, field): sample for field, sample in values.items()},
            unsampled=frozenset((topic, part, field) for field in fields[MAX_FIELDS:]),
            producers={}
            if self.producers is None
            else self.producers.count_records(topic, part, checked.codes >= FIRST_VIOLATION, self.times),
        )

    def _count_cells(self) -> dict[CellKey, Cell]:
        """Count the records by UTC hour, schema id and outcome."""
        hours, numbers = _number_hours(np.where(self.times == NO_TIME, _NO_HOUR, self.times // HOUR))
        order, starts, groups = _sort_groups(numbers, self.checked.schema_ids, self.checked.codes)
        if not starts.size:
            return {}
        times = self.times[order]
        first = np.minimum.reduceat(np.where(times == NO_TIME, NO_TIMESTAMP, times), starts).tolist()
        last = np.maximum.reduceat(times, starts).tolist()
        records = np.diff(starts, append=order.size).tolist()
        cells: dict[CellKey, Cell] = {}
        for index, (number, schema_id, outcome) in enumerate(groups):
            window = _window_name(int(hours[number]))
            key = CellKey(self.offsets.topic, self.part, self.offsets.partition, window, schema_id)
            cell = Cell({outcome: records[index]}, first[index], last[index])
            cells[key] = cells[key].merge(cell) if key in cells else cell
        return cells

    def _count_violations(
        self, previous: Mapping[ViolationKey, ViolationCounts]
    ) -> dict[ViolationKey, ViolationCounts]:
        """Count the violating records by kind, each with its lowest offsets as examples.

        A kind is an outcome, a schema id, a schema path and a field.
        """
        checked, offset_numbers = self.checked, self.offset_numbers
        bad = np.flatnonzero(checked.codes >= FIRST_VIOLATION)
        nodes, codes = checked.paths[bad].astype(np.int64), checked.codes[bad]
        schema_ids = _limit_unknown_ids(checked.schema_ids[bad], codes)
        violations: dict[ViolationKey, ViolationCounts] = {}
        for node, schema_id, outcome, chosen in _group_rows(nodes, schema_ids, codes):
            path, field = checked.path_table[node] if node >= 0 else ("", "")
            rows = bad[chosen]
            rows = rows[np.argsort(offset_numbers[rows], kind="stable")]
            key = ViolationKey(self.offsets.topic, self.part, outcome, schema_id, path, field)
            existing = violations.get(key) or previous.get(key)
            examples = tuple(self._read_examples(rows, existing))
            violation = ViolationCounts(
                len(rows),
                *find_time_range(self.times[rows]),
                examples,
                checked.details.get(int(rows[0]), ""),
                {} if self.producers is None else self.producers.count_rows(rows),
                self._read_first(rows, existing, examples),
            )
            violations[key] = violations[key].merge(violation) if key in violations else violation
        return violations

    def _read_examples(self, rows: Numbers, existing: ViolationCounts | None) -> Iterator[ViolationExample]:
        """Yield the lowest of some rows, which are ascending, that are not above all examples read before."""
        examples = () if existing is None else existing.examples
        highest = examples[-1].offset if len(examples) == MAX_EXAMPLES else None
        for row in rows[:MAX_EXAMPLES].tolist():
            if highest is None or self.offset_numbers[row] <= highest:
                yield self.examples.read(row, self.offsets.partition)

    def _read_first(
        self, rows: Numbers, existing: ViolationCounts | None, examples: Sequence[ViolationExample]
    ) -> ViolationExample | None:
        """Return the first of some rows by time, then by offset; None if one read before is earlier."""
        times = np.where(self.times[rows] == NO_TIME, NO_TIMESTAMP, self.times[rows])
        position = int(np.argmin(times))  # of several, the first: rows are ascending by offset
        time, offset = int(times[position]), int(self.offset_numbers[rows[position]])
        first = None if existing is None else existing.first
        if first is not None and (first.timestamp, first.offset) < (time, offset):
            return None
        existing_example = next((each for each in examples if (each.timestamp, each.offset) == (time, offset)), None)
        return existing_example or self.examples.read(int(rows[position]), self.offsets.partition)


def _limit_unknown_ids(schema_ids: Numbers, codes: npt.NDArray[np.uint8]) -> Numbers:
    """Return the schema ids with the highest unknown ones as 0, so that no example of each is read.

    ``limit_state`` does the same for whole states.
    """
    unknown = codes == Outcome.UNKNOWN_SCHEMA_ID
    distinct = np.unique(schema_ids[unknown & (schema_ids != 0)])
    if distinct.size <= MAX_UNKNOWN_IDS:
        return schema_ids
    return np.where(unknown & (schema_ids > distinct[MAX_UNKNOWN_IDS - 1]), 0, schema_ids)


def _group_rows(
    numbers: Numbers, schema_ids: Numbers, codes: npt.NDArray[np.uint8]
) -> Iterator[tuple[int, int, Outcome, Numbers]]:
    """Yield each (number, schema id, outcome), ascending, with the rows that have it."""
    order, starts, groups = _sort_groups(numbers, schema_ids, codes)
    for group, rows in zip(groups, np.split(order, starts[1:]), strict=False):
        yield *group, rows


def _sort_groups(
    numbers: Numbers, schema_ids: Numbers, codes: npt.NDArray[np.uint8]
) -> tuple[Numbers, Numbers, list[tuple[int, int, Outcome]]]:
    """Return rows sorted by (number, schema id, outcome), the start of each group, and the groups.

    Numbers are from -1 to below 2**22.
    """
    keys = (numbers << 40) | (schema_ids << 8) | codes
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
    first = order[starts]
    outcomes = map(Outcome, codes[first].tolist())
    groups = list(zip(numbers[first].tolist(), schema_ids[first].tolist(), outcomes, strict=True))
    return order, starts, groups


def _number_hours(hours: Numbers) -> tuple[Numbers, Numbers]:
    """Return distinct hours, and for each record the index of its hour, which is less than 2**22."""
    lowest, highest = (int(hours.min()), int(hours.max())) if hours.size else (0, 0)
    if highest - lowest < _MAX_HOURS:
        return np.arange(lowest, highest + 1), hours - lowest
    distinct, numbers = np.unique(hours, return_inverse=True)
    return distinct, numbers


def _window_name(hour: int) -> str:
    return "" if hour == _NO_HOUR else (_EPOCH + timedelta(hours=hour)).isoformat(timespec="hours")
