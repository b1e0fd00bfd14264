"""Expectations of an audit: what records are checked against, as one value that is sent to workers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import Part
from contractlog.contracts.audit.summary import VersionUse
from contractlog.spark_validation.columnar.column_validation import Validator, make_validator
from contractlog.spark_validation.columnar.frames import Guids
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.record_text import RenderedBody, render_bytes
from contractlog.spark_validation.columnar.validator_results import RecordOutcomes
from contractlog.spark_validation.expectations.subject_strategies import SubjectStrategy
from contractlog.spark_validation.rules.encryption_keys import RuleKeys

__all__ = ["AuditExpectations", "ExpectedSchema", "GuidIds", "PartExpectation", "ValidatorCache"]

_NO_SUBJECTS: Final[Mapping[int, tuple[tuple[str, int], ...]]] = MappingProxyType({})
_NO_GUIDS: Final[Mapping[bytes, tuple[int, ...]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ExpectedSchema:
    """A schema with the texts of its references."""

    schema: RegisteredSchema
    referenced: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""  #: reason why validators cannot use the schema; empty if they can
    #: keys of its encryption rules, by the rule's JSON Pointer
    keys: Mapping[str, RuleKeys] = field(default_factory=dict)


class _UnusableSchemaValidator:
    """Validator for a schema that cannot be used, so that records which carry it cannot be checked."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Give each record the outcome ``SCHEMA_NOT_USABLE``."""
        del data, ends, columns
        codes = np.full(starts.size, Outcome.SCHEMA_NOT_USABLE, np.uint8)
        return RecordOutcomes(codes, np.full(starts.size, -1, np.int32), [], {}, [])

    @staticmethod
    def render(body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body, which cannot be decoded."""
        return RenderedBody(render_bytes(body, show=show))


class ValidatorCache(Mapping[int, Validator]):
    """Validators of the registry's ids, prepared on first use; only ids that decode bodies have a schema."""

    def __init__(
        self, known_ids: frozenset[int], schemas: Mapping[int, ExpectedSchema], limits: ValidationLimits
    ) -> None:
        self._known_ids = known_ids
        self._schemas = schemas
        self._limits = limits
        self._prepared: dict[int, Validator] = {}

    def __getitem__(self, schema_id: int) -> Validator:
        if schema_id not in self._prepared:
            expected = self._schemas[schema_id]
            self._prepared[schema_id] = (
                _UnusableSchemaValidator()
                if expected.fault
                else make_validator(expected.schema, expected.referenced, limits=self._limits)
            )
        return self._prepared[schema_id]

    def __contains__(self, schema_id: object) -> bool:
        return schema_id in self._known_ids

    def __iter__(self) -> Iterator[int]:
        return iter(self._known_ids)

    def __len__(self) -> int:
        return len(self._known_ids)


@dataclass(frozen=True, slots=True)
class PartExpectation:
    """The expected schemas of one part of a topic's records."""

    audited: bool
    known_ids: frozenset[int] = frozenset()  #: ids that exist in the registry
    allowed: frozenset[int] | None = None  #: ids of the strategy's subjects; None: all
    notes: tuple[str, ...] = ()
    strategy: SubjectStrategy | None = None


@dataclass(frozen=True, slots=True)
class AuditExpectations:
    """Everything that records are checked against in an audit."""

    parts: Mapping[tuple[str, Part], PartExpectation]
    schemas: Mapping[int, ExpectedSchema]  #: those needed to decode bodies
    subjects: Mapping[int, tuple[tuple[str, int], ...]] = field(default_factory=lambda: _copy_dict(_NO_SUBJECTS))
    #: every (subject, version) of each id
    guids: Mapping[bytes, tuple[int, ...]] = field(
        default_factory=lambda: _copy_dict(_NO_GUIDS)
    )  #: the ids of each guid
    limits: ValidationLimits = field(default_factory=ValidationLimits)
    samples: bool = True  #: whether values are sampled

    def validators(self, topic: str, part: Part) -> ValidatorCache:
        """Return the validators of a part, for ``validate_column``."""
        return ValidatorCache(self.parts[topic, part].known_ids, self.schemas, self.limits)

    def schemas_of(self, topic: str, part: Part) -> list[ExpectedSchema]:
        """Return the schemas that records of a part may carry."""
        allowed = self.parts[topic, part].allowed
        return [schema for schema_id, schema in self.schemas.items() if allowed is None or schema_id in allowed]

    def subjects_of(self, topic: str, part: Part, schema_id: int) -> frozenset[str]:
        """Return the subjects with which the records of a part were written under an id."""
        subjects = frozenset(subject for subject, _ in self.subjects.get(schema_id, ()))
        strategy = self.parts[topic, part].strategy
        admitted = None if strategy is None else strategy.subjects
        return subjects if admitted is None else subjects & admitted

    def guids_of(self, topic: str, part: Part) -> Guids:
        """Return the id of each guid; of several, the first allowed by the part's strategy, else the first."""
        return GuidIds(self.guids, self.parts[topic, part].allowed)

    def wrong_subjects(self, topic: str, part: Part) -> Mapping[int, str]:
        """Return a description of each id that belongs only to subjects not allowed by a part's strategy."""
        expectation = self.parts[topic, part]
        if expectation.allowed is None or expectation.strategy is None:
            return {}
        return _LazySubjectDescriptions(self.subjects, expectation.allowed, expectation.strategy)

    @property
    def uses(self) -> Mapping[tuple[str, str, int], VersionUse]:
        """The subject and version of every known id, for each part of each topic."""
        return _LazyVersionUses(self)

    @property
    def strategies(self) -> dict[tuple[str, str], SubjectStrategy]:
        """The strategies by topic and part."""
        return {
            key: expectation.strategy for key, expectation in self.parts.items() if expectation.strategy is not None
        }

    def notes(self) -> dict[tuple[str, str], Sequence[str]]:
        """Return notes by topic and part, such as why a part is not audited."""
        return {
            (topic, part): expectation.notes for (topic, part), expectation in self.parts.items() if expectation.notes
        }

    def unusable(self) -> dict[int, str]:
        """Return the reasons why validators cannot use a schema, by id."""
        return {schema_id: expected.fault for schema_id, expected in self.schemas.items() if expected.fault}


def _copy_dict(mapping: Mapping[Any, Any]) -> dict[Any, Any]:
    return dict(mapping)


class _LazySubjectDescriptions(Mapping[int, str]):
    """Descriptions of the ids that are not allowed, on demand, as topics times ids are many."""

    def __init__(
        self,
        subjects: Mapping[int, tuple[tuple[str, int], ...]],
        allowed: frozenset[int],
        strategy: SubjectStrategy,
    ) -> None:
        admitted = strategy.subjects or frozenset()
        self._subjects = subjects
        self._allowed = allowed
        self._reason = f"not of `{min(admitted)}`" if len(admitted) == 1 else f"not a subject by {strategy.name}"

    def __getitem__(self, schema_id: int) -> str:
        if schema_id in self._allowed:
            raise KeyError(schema_id)
        subject, version = self._subjects[schema_id][0]
        return f"version {version} of `{subject}`, {self._reason}"

    def __iter__(self) -> Iterator[int]:
        return (schema_id for schema_id in self._subjects if schema_id not in self._allowed)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class GuidIds(Mapping[bytes, int]):
    """One id for each guid: the first that is allowed, else the first; on demand, as topics are many."""

    def __init__(self, guids: Mapping[bytes, tuple[int, ...]], allowed: frozenset[int] | None = None) -> None:
        self._guids = guids
        self._allowed = allowed

    def __getitem__(self, guid: bytes) -> int:
        ids = self._guids[guid]
        return next((schema_id for schema_id in ids if self._allowed is None or schema_id in self._allowed), ids[0])

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._guids)

    def __len__(self) -> int:
        return len(self._guids)


class _LazyVersionUses(Mapping[tuple[str, str, int], VersionUse]):
    """Subjects and versions looked up on demand, because topics times ids would be many entries."""

    def __init__(self, expectations: AuditExpectations) -> None:
        self._expectations = expectations

    def __getitem__(self, key: tuple[str, str, int]) -> VersionUse:
        topic, part, schema_id = key
        uses = self._expectations.subjects[schema_id]
        expectation = self._expectations.parts[topic, cast("Part", part)]
        admitted = None if expectation.strategy is None else expectation.strategy.subjects
        for subject, version in uses:
            if admitted is None or subject in admitted:
                return VersionUse(subject, version)
        return VersionUse(*uses[0], expected=False)

    def __iter__(self) -> Iterator[tuple[str, str, int]]:
        return (
            (topic, part, schema_id)
            for topic, part in self._expectations.parts
            for schema_id in self._expectations.subjects
        )

    def __len__(self) -> int:
        return len(self._expectations.parts) * len(self._expectations.subjects)
