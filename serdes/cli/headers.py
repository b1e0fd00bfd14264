"""Conversion of record headers from and to JSON and command-line arguments.

A header's value is bytes or null, and names may repeat.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.context import Headers
from contractlog.serdes.wire import KEY_ID_HEADER, VALUE_ID_HEADER

__all__ = ["HeaderPairs", "headers_from_json", "headers_to_json", "parse_header"]

HeaderPairs: TypeAlias = "list[tuple[str, bytes | None]]"

#: Headers in which a serializer names the schema; ``produce`` does not copy those of another record.
_SCHEMA_HEADERS: Final = frozenset({KEY_ID_HEADER, VALUE_ID_HEADER})
_EXPECTED_FORM: Final = (
    'headers read [{"key": name, "value": text or null}, …], with "hex" instead of "value" for other bytes'
)


def headers_to_json(headers: Headers | None) -> list[dict[str, str | None]]:
    """Return the headers of a record as JSON; values that are not UTF-8 become hex digits under ``hex``.

    >>> headers_to_json([("trace", b"1"), ("trace", None), ("raw", bytes([255]))])
    [{'key': 'trace', 'value': '1'}, {'key': 'trace', 'value': None}, {'key': 'raw', 'hex': 'ff'}]
    """
    pairs: Iterable[Any] = headers.items() if isinstance(headers, Mapping) else headers or ()
    return [_header_to_json(name, value) for name, value in pairs]


def headers_from_json(value: Any) -> HeaderPairs:
    """Return headers given in JSON: as ``headers_to_json`` writes them, or as an object of strings.

    Headers that name a schema are left out: they belong to the record that was read.

    Raises:
        UsageError: the value does not describe headers.
    """
    if value is None:
        return []
    if isinstance(value, dict):
        value = [{"key": name, "value": text} for name, text in value.items()]
    if not isinstance(value, list):
        raise UsageError(_EXPECTED_FORM)
    return [pair for pair in map(_header_from_json, value) if pair[0] not in _SCHEMA_HEADERS]


def parse_header(text: str) -> tuple[str, bytes]:
    """Parse ``NAME=VALUE`` of an argument."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"`{text}` does not read NAME=VALUE")
    if name in _SCHEMA_HEADERS:
        raise ArgumentTypeError(f"`{name}` names the schema of a record; the serializer decides on it")
    return name, value.encode("utf-8", "surrogateescape")


def _header_to_json(name: str, value: bytes | str | None) -> dict[str, str | None]:
    if not isinstance(value, bytes):
        return {"key": name, "value": value}
    try:
        return {"key": name, "value": value.decode()}
    except UnicodeDecodeError:
        return {"key": name, "hex": value.hex()}


def _header_from_json(member: Any) -> tuple[str, bytes | None]:
    match member:
        case {"key": str(name), "value": str() | None as text, **rest} if not rest:
            return name, None if text is None else text.encode("utf-8", "surrogatepass")
        case {"key": str(name), "hex": str(digits), **rest} if not rest:
            try:
                return name, bytes.fromhex(digits)
            except ValueError:
                raise UsageError(f"the header `{name[:60]}` has no hexadecimal digits under `hex`") from None
    raise UsageError(_EXPECTED_FORM)
