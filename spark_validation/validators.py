"""Prepared validators of every id that the registry knows, made when a record first carries the id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from contractlog.compatibility.schema import RegisteredSchema
from contractlog.spark_validation.columnar.limits import Limits
from contractlog.spark_validation.columnar.validate import Validator, prepare

__all__ = ["PlannedSchema", "Validators"]


@dataclass(frozen=True, slots=True)
class PlannedSchema:
    """A schema with the texts it leans on."""

    schema: RegisteredSchema
    referenced: Mapping[str, str] = field(default_factory=dict)


class Validators(Mapping[int, Validator]):
    """Every known id; only those that bodies are decoded by have a schema, and are prepared once."""

    def __init__(self, known: frozenset[int], schemas: Mapping[int, PlannedSchema], limits: Limits) -> None:
        self._known = known
        self._schemas = schemas
        self._limits = limits
        self._prepared: dict[int, Validator] = {}

    def __getitem__(self, schema_id: int) -> Validator:
        if schema_id not in self._prepared:
            planned = self._schemas[schema_id]
            self._prepared[schema_id] = prepare(planned.schema, planned.referenced, limits=self._limits)
        return self._prepared[schema_id]

    def __contains__(self, schema_id: object) -> bool:
        return schema_id in self._known

    def __iter__(self) -> Iterator[int]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)
