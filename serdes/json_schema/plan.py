"""Values in and JSON text out, JSON text in and values out. What is validated is what is sent, to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import jsonschema_rs
import orjson

from contractlog.compatibility.json_text import pointer
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError, SerializationError
from contractlog.serdes.json_schema.documents import lost, read_document
from contractlog.serdes.json_schema.validator import NOT_VALID, title, tree, validator_of

__all__ = ["JsonReader", "JsonWriter", "title"]

_TOO_DEEP: Final = "depth limit exceeded"
_FURTHER_STEPS: Final = 100


class JsonWriter:
    """Makes JSON text of values of one schema."""

    def __init__(self, parsed: ParsedSchema, *, validate: bool = True) -> None:
        tree(parsed)
        self._validator = validator_of(parsed) if validate else None

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix and the compact text of a value.

        Raises:
            EncodeError: JSON cannot hold the value, as NaN and infinity, or the schema does not admit it.
        """
        try:
            body = orjson.dumps(value)
        except TypeError as error:
            raise EncodeError(reason=f"JSON cannot hold this value: {error}", outcome=Outcome.NOT_JSON) from None
        if self._validator is not None or b"null" in body:
            made = orjson.loads(body)
            _refuse_lost(value, made)
            if self._validator is not None:
                _hold(made, self._validator, EncodeError)
        return prefix + body


class JsonReader:
    """Makes values of JSON text that one schema wrote, and that another may have to admit as well."""

    def __init__(self, writer: ParsedSchema, reader: ParsedSchema | None = None, *, validate: bool = True) -> None:
        tree(writer)
        schemas = (writer,) if reader is None else (writer, reader)
        self._validators = [validator_of(schema) for schema in schemas] if validate else []

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a text that begins at ``start`` and goes to the end.

        Raises:
            DecodeError: it is no JSON, or a schema does not admit it.
        """
        try:
            value = read_document(memoryview(data)[start:] if start else data)
        except orjson.JSONDecodeError as error:
            outcome = Outcome.TOO_DEEP if error.msg.startswith(_TOO_DEEP) else Outcome.NOT_JSON
            raise DecodeError(reason=f"{error.msg} (byte {error.pos} of the body)", outcome=outcome) from None
        for validator in self._validators:
            _hold(value, validator, DecodeError)
        return value


def _refuse_lost(value: Any, made: Any) -> None:
    steps = lost(value, made)
    if steps is not None:
        field, where = _path(steps, exact=False), _path(steps, exact=True)
        reason = "JSON has no number for NaN and infinity"
        raise EncodeError(reason=reason, field=field, where=where, outcome=Outcome.NOT_JSON)


def _hold(value: Any, validator: jsonschema_rs.Validator, kind: type[SerializationError]) -> None:
    if validator.is_valid(value):
        return
    error = next(validator.iter_errors(value), None)
    if error is None:  # no error to show, as where a pattern gave up
        raise kind(reason=NOT_VALID, outcome=Outcome.SCHEMA_VIOLATION)
    steps = error.instance_path[:_FURTHER_STEPS]
    raise kind(
        reason=f"{error.kind.name}: {error.message}",
        field=_path(steps, exact=False),
        where=_path(steps, exact=True),
        outcome=Outcome.SCHEMA_VIOLATION,
        keyword=error.kind.name,
        instance_path=pointer("", *steps),
        schema_path=pointer("", *error.schema_path[:_FURTHER_STEPS]),
    )


def _path(steps: Sequence[str | int], *, exact: bool) -> str:
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]" if exact else "[]"
        else:
            path += f".{step}" if path else step
    return path
