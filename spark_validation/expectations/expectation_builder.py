"""Builder of an audit's expectations: the schemas that the records of topics should have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import ContractlogError, InvalidSchema, NotFound
from contractlog.compatibility.identifiers import topic_subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.outcomes import NO_BODY, NO_ID, Outcome
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.serdes.json_schema.schema_preparation import shorten_message
from contractlog.serdes.subject_names import SubjectNameStrategyType as Kind
from contractlog.spark_validation.columnar.column_validation import validate_column
from contractlog.spark_validation.columnar.frames import read_frames, read_schema_headers
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.expectations.audit_expectations import (
    AuditExpectations,
    ExpectedSchema,
    GuidIds,
    PartExpectation,
    ValidatorCache,
)
from contractlog.spark_validation.expectations.given_strategies import GivenStrategies
from contractlog.spark_validation.expectations.registry_catalogue import (
    MAX_CONCURRENT,
    DependencyTexts,
    fetch_associations,
    fetch_catalogue,
)
from contractlog.spark_validation.expectations.subject_strategies import SubjectStrategy, choose_strategy
from contractlog.spark_validation.rules.encryption_keys import EncryptionKeyCatalogue
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource

__all__ = ["ExpectationBuilder"]

SAMPLED_OFFSETS: Final = 200  #: offsets read per position
SAMPLED_PARTITIONS: Final = 8  #: partitions sampled per topic, each at its beginning, middle and end
SAMPLED_BYTES_PER_RANGE: Final = 2**20  #: keys and values beyond that are not sampled
SAMPLED_BYTES: Final = 256 * 2**20  #: of all topics
_NO_COUNTS: Final[Mapping[int, int]] = MappingProxyType({})
_NO_KNOWN_IDS: Final = "carry no ids of this registry"


class ExpectationBuilder:
    """Builder of the expectations of an audit from the registry and the records of topics.

    A part is checked against the subjects of its strategy (``subject_strategies.choose_strategy``), soft-deleted
    versions included. If the strategy depends on the ids that records carry, the first build uses a few records;
    once all records are counted, ``refine`` returns expectations based on all of them.

    Args:
        registry: client of the registry with the schemas.
        source: source of the records.
        ranges: the ranges to audit.
        limits: bounds on how much of a record is processed.
        strategies: strategies given by the user.
        samples: whether values are sampled.

    Raises:
        Unreachable: the registry or the source does not respond.
        UsageError: a strategy is given for a topic that is not audited.
    """

    def __init__(
        self,
        registry: Registry,
        source: RecordSource,
        ranges: Sequence[OffsetRange],
        *,
        limits: ValidationLimits | None = None,
        strategies: GivenStrategies | None = None,
        samples: bool = True,
    ) -> None:
        self._limits = limits or ValidationLimits()
        self._given = strategies or GivenStrategies()
        self._samples = samples
        topics = list(dict.fromkeys(offsets.topic for offsets in ranges))
        self._given.require_topics(topics)
        self._wanted: list[tuple[str, Part]] = [(topic, part) for topic in topics for part in PARTS]
        self._catalogue = fetch_catalogue(registry)
        self._dependencies = DependencyTexts(registry, self._catalogue)
        self._associated = fetch_associations(
            registry, {topic for topic in topics if any(self._wants_association(topic, part) for part in PARTS)}
        )
        self._keys = EncryptionKeyCatalogue(registry)
        self._schemas: dict[int, ExpectedSchema] = {}
        unclear = dict.fromkeys(topic for topic, part in self._wanted if not self._is_named(topic, part))
        self._sampled = _sample_topics(source, ranges, unclear)

    def build(self) -> AuditExpectations:
        """Return the expectations based on the registry and a few records."""
        return self._build({key: self._count_known_ids(key) for key in self._wanted})

    def refine(self, expectations: AuditExpectations, state: AuditState) -> tuple[AuditExpectations, frozenset[str]]:
        """Return the expectations based on all records, and the topics to read again because theirs differ.

        Args:
            expectations: those with which the records were read.
            state: the resulting state.
        """
        counts: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for key, cell in state.cells.items():
            records = sum(number for outcome, number in cell.counts.items() if outcome not in NO_BODY)
            counts[key.topic, key.part][key.schema_id] += records
        exact = self._build(
            {
                key: counts[key] if expectations.parts[key].audited else self._count_known_ids(key)
                for key in self._wanted
            }
        )
        changed = {
            topic
            for (topic, part), expectation in exact.parts.items()
            if (expectation.audited, expectation.allowed)
            != (expectations.parts[topic, part].audited, expectations.parts[topic, part].allowed)
        }
        return exact, frozenset(changed)

    def _build(self, counts: Mapping[tuple[str, Part], Mapping[int, int]]) -> AuditExpectations:
        parts = {key: self._expectation(*key, counts.get(key, _NO_COUNTS)) for key in self._wanted}
        return AuditExpectations(
            parts,
            dict(self._schemas),
            self._catalogue.subjects,
            self._catalogue.guids,
            self._limits,
            self._samples,
        )

    def _is_named(self, topic: str, part: Part) -> bool:
        """Return true if the strategy of a part does not depend on its records."""
        given = self._given.of(topic, part)
        return given is Kind.TOPIC or (given in {None, Kind.ASSOCIATED} and bool(self._associated.get((topic, part))))

    def _wants_association(self, topic: str, part: Part) -> bool:
        return self._given.of(topic, part) in {None, Kind.ASSOCIATED}

    def _count_known_ids(self, key: tuple[str, Part]) -> Mapping[int, int]:
        """Count the known ids in the sampled records."""
        sampled = self._sampled.get(key)
        if sampled is None:
            return _NO_COUNTS
        frames = read_frames(cast("pa.BinaryArray", sampled.bodies), sampled.header_ids, GuidIds(self._catalogue.guids))
        ids, numbers = np.unique(frames.schema_ids[frames.framed], return_counts=True)
        return dict(zip(ids.tolist(), numbers.tolist(), strict=True))

    def _expectation(self, topic: str, part: Part, counts: Mapping[int, int]) -> PartExpectation:
        given = self._given.of(topic, part)
        named = topic_subject(topic, part)
        associated = self._associated.get((topic, part), ())
        strategy = choose_strategy(topic, part, self._catalogue, counts, given=given, associated=associated)
        missing = f"No subject `{named}` has a version"
        unframed = given is Kind.RECORD and named not in self._catalogue.versions and not self._known_ids(counts)
        if strategy is None or unframed:
            sampled = self._sampled.get((topic, part))
            empty = sampled is None or sampled.bodies.null_count == len(sampled.bodies)
            note = f"{missing}." if empty else f"{missing}, and its records {_NO_KNOWN_IDS}."
            return PartExpectation(audited=False, notes=(note,), strategy=strategy)
        allowed = self._catalogue.ids_of(strategy.subjects)
        for schema_id in sorted(allowed):
            self._take(self._catalogue.by_id[schema_id])
        if strategy.chosen_by == "evidence":
            return self._by_evidence(topic, part, strategy, allowed)
        if not allowed:
            subjects = strategy.subjects or frozenset()
            none = (
                f"{missing}."
                if subjects == {named}
                else f"No subject by {strategy.name} ({strategy.reason}) has a version."
            )
            return PartExpectation(audited=False, notes=(none,), strategy=strategy)
        return PartExpectation(audited=True, known_ids=self._catalogue.ids, allowed=allowed, strategy=strategy)

    def _by_evidence(
        self, topic: str, part: Part, strategy: SubjectStrategy, allowed: frozenset[int]
    ) -> PartExpectation:
        """Return the expectation of a part whose strategy was chosen by the ids that its records carry."""
        named = topic_subject(topic, part)
        known_ids = self._catalogue.ids
        if named not in self._catalogue.versions and not self._are_framed((topic, part), allowed):
            note = f"No subject `{named}` has a version, and its records {_NO_KNOWN_IDS}."
            return PartExpectation(audited=False, notes=(note,))
        if strategy.subjects is not None:
            return PartExpectation(audited=True, known_ids=known_ids, allowed=allowed, strategy=strategy)
        note = f"No subject `{named}` has a version: audited by the ids that its records carry."
        return PartExpectation(audited=True, known_ids=known_ids, notes=(note,), strategy=strategy)

    def _known_ids(self, counts: Mapping[int, int]) -> frozenset[int]:
        return frozenset(schema_id for schema_id, records in counts.items() if records) & self._catalogue.ids

    def _are_framed(self, key: tuple[str, Part], known_ids: frozenset[int]) -> bool:
        """Return true if records carry known ids too often for it to be by chance.

        That is the case if half of all records carry one, or half of those that do conform to its schema. Plain
        eight-byte numbers occasionally look like frames with low ids.
        """
        sampled = self._sampled.get(key)
        if sampled is None:
            return False
        bodies = cast("pa.BinaryArray", sampled.bodies)
        validators = ValidatorCache(known_ids, self._schemas, self._limits)
        guids = GuidIds(self._catalogue.guids)
        codes = validate_column(
            bodies, validators, None, columns=False, header_ids=sampled.header_ids, guids=guids
        ).codes
        carrying = int((~np.isin(codes, [*NO_ID, Outcome.UNKNOWN_SCHEMA_ID])).sum())
        conforming = int((codes == Outcome.CONFORMS).sum())
        present = len(bodies) - bodies.null_count
        return carrying > 0 and (carrying * 2 >= present or conforming * 2 >= carrying)

    def _take(self, version: RegisteredSchema) -> None:
        """Add a schema that bodies may be decoded by, or the reason why validators cannot use it."""
        schema_id = int(version.schema_id)
        if schema_id in self._schemas:
            return
        try:
            keys = self._keys.find(version.rule_set, version.metadata, self._subjects_of(schema_id))
            expected = ExpectedSchema(version, dict(self._dependencies.fetch(version.draft)), keys=keys)
            ValidatorCache(frozenset({schema_id}), {schema_id: expected}, self._limits)[schema_id]
        except (InvalidSchema, NotFound) as error:
            expected = ExpectedSchema(version, fault=_describe_fault(error))
        self._schemas[schema_id] = expected

    def _subjects_of(self, schema_id: int) -> list[str]:
        return [subject for subject, _ in self._catalogue.subjects.get(schema_id, ())]


def _describe_fault(error: ContractlogError) -> str:
    """Return why validators cannot use a schema, as one bounded line without control characters."""
    reason, at = error.facts.get("reason"), error.facts.get("at")
    return reason or escape_line(shorten_message(error.message) + (f", at `{shorten_message(at)}`" if at else ""))


@dataclass(frozen=True, slots=True)
class _SampledPart:
    """Keys or values of a few records, with the ids and guids from the records' headers."""

    bodies: pa.Array[Any]
    header_ids: pa.Array[Any]  #: null if a record has no such header


def _sample_topics(
    source: RecordSource, ranges: Iterable[OffsetRange], topics: Collection[str]
) -> Mapping[tuple[str, Part], _SampledPart]:
    """Return the keys and values of a few records of each topic."""
    by_topic: dict[str, list[OffsetRange]] = {topic: [] for topic in topics}
    for offsets in ranges:
        if offsets.topic in by_topic:
            by_topic[offsets.topic].append(offsets)
    sampled = [offsets for parts in by_topic.values() for offsets in _sampled_ranges(parts)]
    budget = min(SAMPLED_BYTES_PER_RANGE, SAMPLED_BYTES // max(len(sampled), 1))
    size = max(-(-len(sampled) // MAX_CONCURRENT), 1)
    shares = [sampled[start : start + size] for start in range(0, len(sampled), size)]
    arrays_by_part: defaultdict[tuple[str, Part], list[tuple[pa.Array[Any], pa.Array[Any]]]] = defaultdict(list)
    with ThreadPoolExecutor(MAX_CONCURRENT) as threads:
        for arrays in threads.map(lambda share: list(_read_samples(source, share, budget)), shares):
            for key, bodies, header_ids in arrays:
                arrays_by_part[key].append((bodies, header_ids))
    return {
        key: _SampledPart(*(pa.concat_arrays(list(arrays)) for arrays in zip(*pairs, strict=True)))
        for key, pairs in arrays_by_part.items()
    }


def _read_samples(
    source: RecordSource, ranges: Sequence[OffsetRange], budget: int
) -> Iterator[tuple[tuple[str, Part], pa.Array[Any], pa.Array[Any]]]:
    """Yield keys and values of ranges with the ids in their headers, up to a number of bytes per range."""
    with source.open(ranges) as reader:
        for offsets in ranges:
            left = budget
            # closed at once, also by an error: reading large records holds a lock that other threads wait for
            with closing(cast("Generator[pa.RecordBatch]", reader.read(offsets))) as batches:
                for batch in batches:
                    rows = _count_rows_within(batch, left)
                    chosen = batch.slice(0, rows)
                    for part in PARTS:
                        header_ids = read_schema_headers(chosen.column("headers"), part)
                        none: pa.Array[Any] = pa.nulls(rows, pa.binary())
                        bodies = pa.concat_arrays([chosen.column(part)])  # a copy, without the rest of the batch
                        yield (offsets.topic, part), bodies, none if header_ids is None else header_ids
                    left -= batch.nbytes
                    if left <= 0:
                        break


def _count_rows_within(batch: pa.RecordBatch, size: int) -> int:
    """Return the number of first rows whose keys and values have a size, at least one."""
    columns = [cast("pa.BinaryArray", batch.column(part)) for part in PARTS]
    value_sizes, key_sizes = (np.asarray(pc.binary_length(column).fill_null(0), np.int64) for column in columns)
    return max(int(np.searchsorted(np.cumsum(value_sizes + key_sizes), size, side="right")), 1)


def _sampled_ranges(ranges: Iterable[OffsetRange]) -> Iterator[OffsetRange]:
    """Yield the first, middle and last offsets of some partitions of a topic."""
    reach: dict[int, tuple[int, int]] = {}
    topic = ""
    for offsets in ranges:
        topic = offsets.topic
        start, end = reach.get(offsets.partition, (offsets.start, offsets.end))
        reach[offsets.partition] = (min(start, offsets.start), max(end, offsets.end))
    filled = [(partition, start, end) for partition, (start, end) in sorted(reach.items()) if end > start]
    for partition, start, end in filled[:SAMPLED_PARTITIONS]:
        for at in dict.fromkeys(
            (start, max(start, (start + end - SAMPLED_OFFSETS) // 2), max(start, end - SAMPLED_OFFSETS))
        ):
            yield OffsetRange(topic, partition, at, min(at + SAMPLED_OFFSETS, end))
