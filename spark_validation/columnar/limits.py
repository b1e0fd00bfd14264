"""Bounds for hostile records, and the options of strict audits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.json_schema.schema_preparation import MAX_BACKTRACKING

__all__ = ["ValidationLimits"]

_MAX_DEPTH: Final = 128  # the walkers recurse: the depth must fit into the interpreter's stack


@dataclass(frozen=True, slots=True)
class ValidationLimits:
    """Bounds on how much of a record is processed; their defaults are those of the deserializers."""

    depth: int = DEFAULT_LIMITS.max_depth  #: nested records, arrays and maps; more is ``TOO_DEEP``
    items: int = DEFAULT_LIMITS.max_empty_items  #: cost of a record's items without bytes; more is ``TOO_MANY_ITEMS``
    length: int = DEFAULT_LIMITS.max_length  #: bytes of one string or block; more is ``BAD_LENGTH``
    strict_booleans: bool = False  #: whether a boolean other than 0 and 1 is ``BAD_BOOLEAN``
    formats: bool = False  #: whether a JSON Schema's ``format`` is asserted
    paths: int = 20_000  #: value paths of one schema that are cached and become columns
    backtracking: int = MAX_BACKTRACKING  #: steps of a JSON Schema pattern that cannot be matched in linear time

    def __post_init__(self) -> None:
        if not 0 < self.depth <= _MAX_DEPTH:
            raise ValueError(f"depth must be between 1 and {_MAX_DEPTH}, not {self.depth}")
