"""Readers of many records with a proposed schema, exact for each record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.spark_validation.columnar.avro_readability import AvroReadability
from contractlog.spark_validation.columnar.json_validator import JsonValidator
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.read_failures import ReadFailures, UnreadableCause

__all__ = ["Readability", "make_readability"]

TYPE_CHANGED: Final = "SCHEMA_TYPE_CHANGED"  #: as the check of that name
_LIMITS: Final = ValidationLimits()


class Readability(Protocol):
    """Reads records of one schema with another; may be cached for the life of a process."""

    def read(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        conforming: NDArray[np.bool_],
    ) -> ReadFailures:
        """Read the bodies at ``data[start:end]``, ascending and without overlap.

        Args:
            data: bytes of a column.
            starts: start of each body.
            ends: end of each body.
            conforming: whether each record conforms to its own schema; the others can at least be decoded.
        """

    def locate(self, body: bytes) -> str:
        """Return the path, with positions, of the value for which a body cannot be read."""


def make_readability(
    writer: ParsedSchema,
    reader: ParsedSchema,
    referenced: Mapping[str, str],
    *,
    limits: ValidationLimits = _LIMITS,
) -> Readability:
    """Return the reader of records of one schema as another.

    Args:
        writer: the schema of the records.
        reader: the proposed schema.
        referenced: text of every dependency of the proposed schema by name.
        limits: bounds on how much of a record is processed.
    """
    if writer.type is not reader.type:
        return _OtherType(writer.type, reader.type)
    if reader.type is SchemaType.JSON:
        return JsonReadability(JsonValidator(reader.root, referenced, limits))
    return AvroReadability(writer, reader, limits)


class JsonReadability:
    """Validates documents against a proposed JSON Schema, whatever schema they were written with."""

    def __init__(self, validator: JsonValidator) -> None:
        self._validator = validator

    def read(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        conforming: NDArray[np.bool_],
    ) -> ReadFailures:
        """Return the documents that the schema refuses."""
        del conforming
        outcomes = self._validator.validate(data, starts, ends, columns=False)
        unreadable = ReadFailures.none(starts.size)
        for row, detail in outcomes.details.items():
            pointer, field = outcomes.table[outcomes.paths[row]] if outcomes.paths[row] >= 0 else ("", "")
            unreadable.add(row, UnreadableCause.of(int(outcomes.codes[row]), field, pointer), detail)
        return unreadable

    def locate(self, body: bytes) -> str:
        """Return the path of the first violation of a document."""
        return self._validator.locate(body)


class _OtherType:
    """No record of another schema type can be read."""

    def __init__(self, writer: SchemaType, reader: SchemaType) -> None:
        self._cause = UnreadableCause(TYPE_CHANGED, "", "", f"{writer} was written, and the new schema is {reader}")

    def read(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        ends: NDArray[np.int64],
        conforming: NDArray[np.bool_],
    ) -> ReadFailures:
        """Return all records."""
        del data, ends, conforming
        unreadable = ReadFailures.none(starts.size)
        unreadable.add_all(np.arange(starts.size), self._cause)
        return unreadable

    def locate(self, body: bytes) -> str:
        """Return the empty path: it is the record as a whole."""
        del body
        return ""
