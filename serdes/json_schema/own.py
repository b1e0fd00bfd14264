"""User-defined JSON encoders and decoders, whose failures are raised as this package's errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.errors import DecodeError, EncodeError
from contractlog.serdes.json_schema.documents import read_document
from contractlog.serdes.json_schema.holding import Check, Validation
from contractlog.serdes.json_schema.validator import tree

__all__ = ["OwnJsonWriter", "own_decode"]


class OwnJsonWriter:
    """Encoder with a user-defined function; the text that it returns is validated, not the value.

    Args:
        parsed: the schema.
        validation: the settings of validation; None: texts only have to be JSON.
        encode: returns the text of a value.
    """

    def __init__(
        self, parsed: ParsedSchema, validation: Validation | None, encode: Callable[[Any], str | bytes]
    ) -> None:
        tree(parsed)
        self._check = None if validation is None else Check(parsed, validation)
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
            raise EncodeError(reason=_failed("json_encode", error), outcome=Outcome.NOT_JSON) from error
        try:
            made = read_document(body)
        except orjson.JSONDecodeError as error:
            reason = f"json_encode made what is no JSON: {error.msg} (byte {error.pos})"
            raise EncodeError(reason=reason, outcome=Outcome.NOT_JSON) from None
        if self._check is not None:
            self._check.hold(made, EncodeError)
        return prefix + body


def own_decode(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Wrap a function so that whatever it raises becomes a ``DecodeError``."""

    def decoded(body: bytes) -> Any:
        try:
            return decode(body)
        except DecodeError:
            raise
        except Exception as error:
            raise DecodeError(reason=_failed("json_decode", error), outcome=Outcome.NOT_JSON) from error

    return decoded


def _failed(name: str, error: Exception) -> str:
    return f"{name} failed: {type(error).__name__}: {error}"
