"""Possible fixes for Avro findings: one generator per check, the undo of the change included."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from contractlog.compatibility.mending.avro_cautions import (
    default_changed,
    doc_lost,
    enum_default_missing,
    field_renamed,
    logical_type_changed,
)
from contractlog.compatibility.mending.avro_fields import ambiguous, default_missing
from contractlog.compatibility.mending.avro_names import enum_symbols, fixed_size, name_changed
from contractlog.compatibility.mending.avro_sides import Sides
from contractlog.compatibility.mending.avro_types import branch_missing, type_changed
from contractlog.compatibility.mending.ways import Case, Way

__all__ = ["avro_ways"]

_WAYS: Final[Mapping[str, Callable[[Sides], Iterator[Way]]]] = {
    "AVRO_DEFAULT_CHANGED": default_changed,
    "AVRO_DOC_LOST": doc_lost,
    "AVRO_ENUM_DEFAULT_MISSING": enum_default_missing,
    "AVRO_ENUM_SYMBOLS_MISSING": enum_symbols,
    "AVRO_FIELD_AMBIGUOUS": ambiguous,
    "AVRO_FIELD_DEFAULT_MISSING": default_missing,
    "AVRO_FIELD_RENAMED": field_renamed,
    "AVRO_FIXED_SIZE_CHANGED": fixed_size,
    "AVRO_LOGICAL_TYPE_CHANGED": logical_type_changed,
    "AVRO_NAME_CHANGED": name_changed,
    "AVRO_TYPE_CHANGED": type_changed,
    "AVRO_UNION_BRANCH_MISSING": branch_missing,
}


def avro_ways(case: Case) -> Iterator[Way]:
    """Yield possible fixes for a finding; they are not verified yet."""
    ways = _WAYS.get(case.finding.check)
    return iter(()) if ways is None else ways(Sides(case))
