"""Functions of the user's own that make texts of values and values of texts; what they do wrong has our errors."""

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
    """Makes JSON text of values with a function of the user's own; its text is read and validated, not the value.

    Args:
        parsed: the schema.
        validation: how texts are held against it; None: they have to be JSON, and no more.
        encode: makes the text.
    """

    def __init__(
        self, parsed: ParsedSchema, validation: Validation | None, encode: Callable[[Any], str | bytes]
    ) -> None:
        tree(parsed)
        self._check = None if validation is None else Check(parsed, validation)
        self._encode = encode

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix and the text of a value.

        Raises:
            EncodeError: the function failed, its text is no JSON, or the schema does not admit it.
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
    """Make a function that raises DecodeError, whatever its own function raises."""

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
