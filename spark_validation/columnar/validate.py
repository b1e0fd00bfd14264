"""Public interface of columnar validation: a column of framed records in, one outcome per record out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import RegisteredSchema, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.avro import AvroValidator
from contractlog.spark_validation.columnar.columns import FieldColumn, Piece, join
from contractlog.spark_validation.columnar.frames import Guids, read_frames
from contractlog.spark_validation.columnar.json_schema import JsonValidator
from contractlog.spark_validation.columnar.judged import Judged, Validator
from contractlog.spark_validation.columnar.limits import Limits
from contractlog.spark_validation.columnar.raw import RawValidator, is_raw

__all__ = ["Checked", "FieldColumn", "Limits", "Validator", "check_part", "prepare"]

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_NO_GUIDS: Final[Guids] = MappingProxyType({})
_NO_NAMES: Final[Mapping[int, str]] = MappingProxyType({})
_LIMITS: Final = Limits()
_UNKNOWN: Final = Outcome.UNKNOWN_SCHEMA_ID
_NO_FRAME: Final = "neither the record nor a header of it begins with a magic byte and a schema id or guid"


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of each record of a column."""

    codes: NDArray[np.uint8]  #: ``Outcome`` numbers
    schema_ids: NDArray[np.int32]  #: 0 where the record carries none
    places: NDArray[np.int32]  #: index into ``places_table``; -1 for none, or for a record as a whole
    places_table: list[tuple[str, str]]  #: JSON Pointer into the schema's text, and the value's path
    details: dict[int, str]  #: row -> sentence; violating rows only
    columns: list[FieldColumn]  #: of conforming rows, if columns were requested


def prepare(
    schema: RegisteredSchema, referenced: Mapping[str, str] = _NOTHING, *, limits: Limits = _LIMITS
) -> Validator:
    """Return the validator of a schema; cache it, one per schema id.

    Args:
        schema: as registered.
        referenced: text of every direct and transitive reference by name, dependencies before their dependents.
        limits: bounds on how much of a record is processed.

    Raises:
        InvalidSchema: the text cannot be parsed, or a reference is missing.
    """
    parsed = parse(schema.draft, referenced, strict=False)
    if schema.type is SchemaType.JSON:
        return JsonValidator(parsed.root, referenced, limits)
    return RawValidator() if is_raw(parsed.root) else AvroValidator(parsed.root, limits)


def check_part(
    bodies: pa.BinaryArray | pa.LargeBinaryArray,
    known: Mapping[int, Validator],
    allowed: frozenset[int] | None,
    *,
    columns: bool,
    heads: pa.Array[Any] | None = None,
    guids: Guids = _NO_GUIDS,
    names: Mapping[int, str] = _NO_NAMES,
) -> Checked:
    """Return the outcome of each record of a column: the first that applies.

    Args:
        bodies: keys or values as stored in the log, frames included; nulls are tombstones.
        known: the validator of each schema id in the registry.
        allowed: schema ids allowed by the part's subjects; None to skip the check for ``WRONG_SUBJECT``.
        columns: whether to return the values of conforming records as columns.
        heads: ids and guids from the records' headers (``headers.schema_headers``); None if no record has one.
        guids: schema ids by guid.
        names: descriptions of schema ids for messages about the wrong subject.
    """
    frames = read_frames(bodies, heads, guids)
    codes = np.full(len(bodies), Outcome.NOT_FRAMED, np.uint8)
    codes[frames.null] = Outcome.TOMBSTONE
    checked = Checked(codes, frames.schema_ids, np.full(len(bodies), -1, np.int32), [], {}, [])
    pieces: list[Piece] = []
    for row in np.flatnonzero(~frames.framed & ~frames.null).tolist():
        checked.details[row] = frames.faults.get(row, _NO_FRAME)
    for schema_id, rows in frames.by_schema():
        if schema_id not in known:
            _refuse(checked, rows, Outcome.UNKNOWN_SCHEMA_ID, f"the registry has no schema {schema_id}")
            checked.details.update({row: fault for row, fault in frames.faults.items() if codes[row] == _UNKNOWN})
        elif allowed is not None and schema_id not in allowed:
            name = names.get(schema_id, "no version of a subject that this topic's strategy allows")
            _refuse(checked, rows, Outcome.WRONG_SUBJECT, f"schema {schema_id} is {name}")
        else:
            judged = known[schema_id].judge(frames.data, frames.starts[rows], frames.ends[rows], columns=columns)
            pieces += _take_in(checked, rows, judged)
    checked.columns.extend(join(pieces))
    return checked


def _refuse(checked: Checked, rows: NDArray[np.intp], outcome: Outcome, sentence: str) -> None:
    checked.codes[rows] = outcome
    checked.details.update(dict.fromkeys(rows.tolist(), sentence))


def _take_in(checked: Checked, rows: NDArray[np.intp], judged: Judged) -> list[Piece]:
    """Copy a validator's results for some rows into ``checked``; return their values by column row."""
    checked.codes[rows] = judged.codes
    placed = judged.places >= 0
    checked.places[rows[placed]] = judged.places[placed] + len(checked.places_table)
    checked.places_table.extend(judged.table)
    checked.details.update((int(rows[record]), sentence) for record, sentence in judged.details.items())
    return [Piece(piece.field, rows[piece.rows], piece.order, piece.values) for piece in judged.pieces]
