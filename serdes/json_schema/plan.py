"""Prepared JSON schemas: encode and decode values. Exactly the bytes that are sent are validated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import orjson

from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema.documents import lost, none_count, read_document
from contractlog.serdes.json_schema.holding import DEFAULT, Check, Validation, path
from contractlog.serdes.json_schema.own import own_decode
from contractlog.serdes.json_schema.validator import NOT_VALID, tree
from contractlog.serdes.json_schema.values import EXACTLY, exact, long_text, too_long

__all__ = ["JsonReader", "JsonWriter"]

_TOO_DEEP: Final = "depth limit exceeded"


class JsonWriter:
    """Encoder of the values of one schema.

    Args:
        parsed: the schema.
        validation: the settings of validation; None: no validation.
    """

    def __init__(self, parsed: ParsedSchema, validation: Validation | None = DEFAULT) -> None:
        tree(parsed)
        self._check = None if validation is None else Check(parsed, validation)

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the compact text of a value.

        Raises:
            EncodeError: JSON cannot represent the value, as NaN and infinity, or it is not valid under the schema.
        """
        try:
            body = orjson.dumps(value, exact, EXACTLY)
        except TypeError as error:
            return prefix + self._long(value, error)
        nulls = body.count(b"null")
        # If there are more nulls than None values, NaN or a date may have become null, or a string contains it.
        exact_nulls = not nulls or nulls == none_count(value)
        if exact_nulls and (self._check is None or self._check.surely_admits(value)):
            return prefix + body
        made = orjson.loads(body)
        if made != value:  # NaN has become null, or it is a tuple, a date, an object …
            _refuse_lost(value, made)
        if self._check is not None:
            self._check.hold(made, EncodeError)
        return prefix + body

    def _long(self, value: Any, error: TypeError) -> bytes:
        """Return the text of a value that orjson cannot write, as it holds integers beyond 64 bits."""
        try:
            if not too_long(error):
                raise error
            body = long_text(value)
            made = read_document(body)
        except (TypeError, ValueError, RecursionError) as problem:
            raise EncodeError(reason=f"JSON cannot hold this value: {problem}", outcome=Outcome.NOT_JSON) from None
        if self._check is not None:
            self._check.hold(made, EncodeError)
        return body


class JsonReader:
    """Decoder of JSON texts, validated against the writer schema and, if given, a reader schema.

    Args:
        writer: the schema that values were written with.
        reader: another schema that they have to fit; None: none.
        validation: the settings of validation; None: no validation.
        decode: returns the value of a text, in place of orjson.
    """

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema | None = None,
        validation: Validation | None = DEFAULT,
        *,
        decode: Callable[[bytes], Any] | None = None,
    ) -> None:
        tree(writer)
        schemas = (writer,) if reader is None else (writer, reader)
        self._checks = [] if validation is None else [Check(schema, validation) for schema in schemas]
        self._admits = [check.admits if decode is None else check.surely_admits for check in self._checks]
        self._decode = read_document if decode is None else own_decode(decode)

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a text that begins at ``start`` and extends to the end.

        Raises:
            DecodeError: the text is not JSON, or not valid under a schema.
        """
        body = bytes(data[start:]) if start or type(data) is not bytes else data
        try:
            value = self._decode(body)
        except orjson.JSONDecodeError as error:
            outcome = Outcome.TOO_DEEP if error.msg.startswith(_TOO_DEEP) else Outcome.NOT_JSON
            raise DecodeError(reason=f"{error.msg} (byte {error.pos} of the body)", outcome=outcome) from None
        for admits in self._admits:
            if not admits(value):
                self._refuse(value)
        return value

    def prove(self) -> None:
        """Do nothing: only a document shows whether it fits two schemas."""

    def _refuse(self, value: Any) -> NoReturn:
        for check in self._checks:
            check.hold(value, DecodeError)
        raise DecodeError(reason=NOT_VALID, outcome=Outcome.SCHEMA_VIOLATION)


def _refuse_lost(value: Any, made: Any) -> None:
    steps = lost(value, made)
    if steps is not None:
        field, where = path(steps, exact=False), path(steps, exact=True)
        reason = "JSON has no number for NaN and infinity"
        raise EncodeError(reason=reason, field=field, where=where, outcome=Outcome.NOT_JSON)
