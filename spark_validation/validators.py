"""Validators by schema id, prepared when a record first carries the id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.outcomes import RecordOutcomes
from contractlog.spark_validation.columnar.validation import Validator, make_validator

__all__ = ["PlannedSchema", "ValidatorCache"]


@dataclass(frozen=True, slots=True)
class PlannedSchema:
    """A schema with the texts of its references."""

    schema: RegisteredSchema
    referenced: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""  #: reason why validators cannot use the schema; empty if they can


class _UnusableSchemaValidator:
    """Validator for a schema that cannot be used, so that records which carry it cannot be checked."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Give each record the outcome ``SCHEMA_NOT_USABLE``."""
        del data, ends, columns
        codes = np.full(starts.size, Outcome.SCHEMA_NOT_USABLE, np.uint8)
        return RecordOutcomes(codes, np.full(starts.size, -1, np.int32), [], {}, [])


class ValidatorCache(Mapping[int, Validator]):
    """Validators of the registry's ids, prepared on first use; only ids that decode bodies have a schema."""

    def __init__(self, known: frozenset[int], schemas: Mapping[int, PlannedSchema], limits: ValidationLimits) -> None:
        self._known = known
        self._schemas = schemas
        self._limits = limits
        self._prepared: dict[int, Validator] = {}

    def __getitem__(self, schema_id: int) -> Validator:
        if schema_id not in self._prepared:
            planned = self._schemas[schema_id]
            self._prepared[schema_id] = (
                _UnusableSchemaValidator()
                if planned.fault
                else make_validator(planned.schema, planned.referenced, limits=self._limits)
            )
        return self._prepared[schema_id]

    def __contains__(self, schema_id: object) -> bool:
        return schema_id in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
