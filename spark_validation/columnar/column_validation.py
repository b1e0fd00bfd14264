"""Public interface of columnar validation: a column of framed records in, one outcome per record out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.compatibility.avro.types import is_bytes_schema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_bytes_validator import AvroBytesValidator
from contractlog.spark_validation.columnar.avro_validator import AvroValidator
from contractlog.spark_validation.columnar.frames import Guids, read_frames
from contractlog.spark_validation.columnar.json_validator import JsonValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.validator_results import (
    ColumnPiece,
    FieldColumn,
    RecordOutcomes,
    Validator,
    join_pieces,
)

__all__ = ["ColumnOutcomes", "FieldColumn", "ValidationLimits", "Validator", "make_validator", "validate_column"]

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_NO_GUIDS: Final[Guids] = MappingProxyType({})
_NO_NAMES: Final[Mapping[int, str]] = MappingProxyType({})
_LIMITS: Final = ValidationLimits()
_UNKNOWN: Final = Outcome.UNKNOWN_SCHEMA_ID
_NO_FRAME: Final = "neither the record nor its header starts with a magic byte and a schema id or guid"


@dataclass(frozen=True, slots=True)
class ColumnOutcomes:
    """The outcome of each record of a column."""

    codes: NDArray[np.uint8]  #: ``Outcome`` numbers
    schema_ids: NDArray[np.int64]  #: 0 where the record carries none
    paths: NDArray[np.int32]  #: index into ``path_table``; -1 for none, or for a record as a whole
    path_table: list[tuple[str, str]]  #: JSON Pointer into the schema's text, and the value's path
    details: dict[int, str]  #: row -> sentence; violating rows only
    columns: list[FieldColumn]  #: of conforming rows, if columns were requested


def make_validator(
    schema: RegisteredSchema, referenced: Mapping[str, str] = _NOTHING, *, limits: ValidationLimits = _LIMITS
) -> Validator:
    """Return the validator of a schema; cache it, one per schema id.

    Args:
        schema: as registered.
        referenced: text of every direct and transitive reference by name, dependencies before their dependents.
        limits: bounds on how much of a record is processed.

    Raises:
        InvalidSchema: the text cannot be parsed, or a reference is missing.
    """
    parsed = parse_schema(schema.draft, referenced, strict=False)
    if schema.type is SchemaType.JSON:
        return JsonValidator(parsed.root, referenced, limits)
    return AvroBytesValidator() if is_bytes_schema(parsed.root) else AvroValidator(parsed.root, limits)


def validate_column(
    bodies: pa.BinaryArray | pa.LargeBinaryArray,
    validators: Mapping[int, Validator],
    allowed: frozenset[int] | None,
    *,
    columns: bool,
    header_ids: pa.Array[Any] | None = None,
    guids: Guids = _NO_GUIDS,
    names: Mapping[int, str] = _NO_NAMES,
) -> ColumnOutcomes:
    """Return the outcome of each record of a column: the first that applies.

    Args:
        bodies: keys or values as stored in the log, frames included; nulls are tombstones.
        validators: the validator of each schema id in the registry.
        allowed: schema ids allowed by the part's subjects; None to skip the check for ``WRONG_SUBJECT``.
        columns: whether to return the values of conforming records as columns.
        header_ids: ids and guids from the records' headers (``frames.read_schema_headers``); None if no record has one.
        guids: schema ids by guid.
        names: descriptions of schema ids for messages about the wrong subject.
    """
    frames = read_frames(bodies, header_ids, guids)
    codes = np.full(len(bodies), Outcome.NOT_FRAMED, np.uint8)
    codes[frames.null] = Outcome.TOMBSTONE
    checked = ColumnOutcomes(codes, frames.schema_ids, np.full(len(bodies), -1, np.int32), [], {}, [])
    pieces: list[ColumnPiece] = []
    for row in np.flatnonzero(~frames.framed & ~frames.null).tolist():
        checked.details[row] = frames.faults.get(row, _NO_FRAME)
    for schema_id, rows in frames.by_schema():
        if schema_id not in validators:
            _set_outcome(checked, rows, Outcome.UNKNOWN_SCHEMA_ID, f"the registry has no schema {schema_id}")
            checked.details.update({row: fault for row, fault in frames.faults.items() if codes[row] == _UNKNOWN})
        elif allowed is not None and schema_id not in allowed:
            name = names.get(schema_id, "no version of a subject that this topic's strategy allows")
            _set_outcome(checked, rows, Outcome.WRONG_SUBJECT, f"schema {schema_id} is {name}")
        else:
            result = validators[schema_id].validate(
                frames.data, frames.starts[rows], frames.ends[rows], columns=columns
            )
            pieces += _add_outcomes(checked, rows, result)
    checked.columns.extend(join_pieces(pieces))
    return checked


def _set_outcome(checked: ColumnOutcomes, rows: NDArray[np.intp], outcome: Outcome, sentence: str) -> None:
    checked.codes[rows] = outcome
    checked.details.update(dict.fromkeys(rows.tolist(), sentence))


def _add_outcomes(checked: ColumnOutcomes, rows: NDArray[np.intp], result: RecordOutcomes) -> list[ColumnPiece]:
    """Copy a validator's results for some rows into ``checked``; return their values by column row."""
    checked.codes[rows] = result.codes
    placed = result.paths >= 0
    checked.paths[rows[placed]] = result.paths[placed] + len(checked.path_table)
    checked.path_table.extend(result.table)
    checked.details.update((int(rows[record]), sentence) for record, sentence in result.details.items())
    return [ColumnPiece(piece.field, rows[piece.rows], piece.order, piece.values) for piece in result.pieces]
