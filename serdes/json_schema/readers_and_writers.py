"""Prepared JSON schemas: encode and decode values. Exactly the bytes that are sent are validated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import orjson

from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema.document_validator import (
    DEFAULT_VALIDATION,
    DocumentValidator,
    ValidationSettings,
    format_path,
)
from contractlog.serdes.json_schema.exact_json import (
    ORJSON_OPTIONS,
    count_nones,
    dump_long_integers,
    find_lost_number,
    is_integer_too_long,
    read_document,
    to_plain_class,
)
from contractlog.serdes.json_schema.schema_preparation import NOT_VALID, json_schema_of

__all__ = ["CustomJsonWriter", "JsonReader", "JsonWriter"]

_TOO_DEEP: Final = "depth limit exceeded"


class JsonWriter:
    """Encoder of the values of one schema.

    Args:
        parsed: the schema.
        validation: the settings of validation; None: no validation.
    """

    def __init__(self, parsed: ParsedSchema, validation: ValidationSettings | None = DEFAULT_VALIDATION) -> None:
        json_schema_of(parsed)
        self._validator = None if validation is None else DocumentValidator(parsed, validation)

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the compact text of a value.

        Raises:
            EncodeError: JSON cannot represent the value, as NaN and infinity, or it is not valid under the schema.
        """
        try:
            body = orjson.dumps(value, to_plain_class, ORJSON_OPTIONS)
        except TypeError as error:
            return prefix + self._encode_long_integers(value, error)
        nulls = body.count(b"null")
        # If there are more nulls than None values, NaN or a date may have become null, or a string contains it.
        exact_nulls = not nulls or nulls == count_nones(value)
        if exact_nulls and (self._validator is None or self._validator.is_surely_valid(value)):
            return prefix + body
        document = orjson.loads(body)
        if document != value:  # NaN has become null, or it is a tuple, a date, an object …
            _reject_lost_number(value, document)
        if self._validator is not None:
            self._validator.require_valid(document, EncodeError)
        return prefix + body

    def _encode_long_integers(self, value: Any, error: TypeError) -> bytes:
        """Return the text of a value that orjson cannot write, as it holds integers beyond 64 bits."""
        try:
            if not is_integer_too_long(error):
                raise error
            body = dump_long_integers(value)
            document = read_document(body)
        except (TypeError, ValueError, RecursionError) as problem:
            raise EncodeError(reason=f"JSON cannot hold this value: {problem}", outcome=Outcome.NOT_JSON) from None
        if self._validator is not None:
            self._validator.require_valid(document, EncodeError)
        return body


class CustomJsonWriter:
    """Encoder with a user-defined function; the text that it returns is validated, not the value.

    Args:
        parsed: the schema.
        validation: the settings of validation; None: texts only have to be JSON.
        encode: returns the text of a value.
    """

    def __init__(
        self, parsed: ParsedSchema, validation: ValidationSettings | None, encode: Callable[[Any], str | bytes]
    ) -> None:
        json_schema_of(parsed)
        self._validator = None if validation is None else DocumentValidator(parsed, validation)
        self._encode = encode

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the text of a value.

        Raises:
            EncodeError: the function failed, or its text is not JSON or not valid under the schema.
        """
        try:
            text = self._encode(value)
            body = text.encode() if isinstance(text, str) else bytes(memoryview(text))
        except EncodeError:
            raise
        except Exception as error:
            raise EncodeError(reason=_failure_message("json_encode", error), outcome=Outcome.NOT_JSON) from error
        try:
            document = read_document(body)
        except orjson.JSONDecodeError as error:
            reason = f"json_encode did not return JSON: {error.msg} (byte {error.pos})"
            raise EncodeError(reason=reason, outcome=Outcome.NOT_JSON) from None
        if self._validator is not None:
            self._validator.require_valid(document, EncodeError)
        return prefix + body


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
        validation: ValidationSettings | None = DEFAULT_VALIDATION,
        *,
        decode: Callable[[bytes], Any] | None = None,
    ) -> None:
        json_schema_of(writer)
        schemas = (writer,) if reader is None else (writer, reader)
        self._validators = [] if validation is None else [DocumentValidator(schema, validation) for schema in schemas]
        self._valid_checks = [check.is_valid if decode is None else check.is_surely_valid for check in self._validators]
        self._decode = read_document if decode is None else _wrap_decoder(decode)

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
        for admits in self._valid_checks:
            if not admits(value):
                self._reject(value)
        return value

    def require_readable(self) -> None:
        """Do nothing: only a document shows whether it fits two schemas."""

    def _reject(self, value: Any) -> NoReturn:
        for check in self._validators:
            check.require_valid(value, DecodeError)
        raise DecodeError(reason=NOT_VALID, outcome=Outcome.SCHEMA_VIOLATION)


def _reject_lost_number(value: Any, document: Any) -> None:
    steps = find_lost_number(value, document)
    if steps is not None:
        field, where = format_path(steps, exact=False), format_path(steps, exact=True)
        reason = "JSON has no number for NaN and infinity"
        raise EncodeError(reason=reason, field=field, where=where, outcome=Outcome.NOT_JSON)


def _wrap_decoder(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Wrap a function so that whatever it raises becomes a ``DecodeError``."""

    def decode_body(body: bytes) -> Any:
        try:
            return decode(body)
        except DecodeError:
            raise
        except Exception as error:
            raise DecodeError(reason=_failure_message("json_decode", error), outcome=Outcome.NOT_JSON) from error

    return decode_body


def _failure_message(name: str, error: Exception) -> str:
    return f"{name} failed: {type(error).__name__}: {error}"
