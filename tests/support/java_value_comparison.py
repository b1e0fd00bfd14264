"""Values as the Java judge tells them: JSON that loses nothing, and what two tellings have in common."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from support.java_avro import JavaProcess

__all__ = ["describe_difference", "encode_value", "request_bytes", "request_fates"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAN: Final = 0x7FF8 << 48
_FINER: Final = {"instant": (1, 1_000, 1_000_000), "local": (1, 1_000, 1_000_000), "date": (1,)}
"""Units that a raw number of each kind may have, in units of the encoded value."""


def encode_value(value: Any) -> Any:  # noqa: C901, PLR0911 -- one line per type
    """Encode a decoded value as JSON, for the comparison with Java."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return {"f": str(_NAN if value != value else struct.unpack("<q", struct.pack("<d", value))[0])}  # noqa: PLR0124
        case bytes() | bytearray():
            return {"b": value.hex()}
        case list():
            return [encode_value(item) for item in value]
        case dict():
            return {"o": {key: encode_value(member) for key, member in value.items()}}
        case Decimal():
            sign, digits, exponent = value.as_tuple()
            return {"decimal": f"{'-' * (sign and any(digits))}{int(''.join(map(str, digits)))} {-int(exponent)}"}
        case UUID():
            return {"uuid": str(value)}
        case datetime():
            kind = "instant" if value.tzinfo else "local"
            since = value.replace(tzinfo=value.tzinfo or UTC) - _EPOCH
            return {kind: str((since.days * 86_400_000_000 + since.seconds * 1_000_000 + since.microseconds) * 1_000)}
        case date():
            return {"date": str(value.toordinal() - _EPOCH.toordinal())}
        case time():
            seconds = (value.hour * 60 + value.minute) * 60 + value.second
            return {"time": str(seconds * 10**9 + value.microsecond * 1_000)}
    raise TypeError(type(value))


def describe_difference(ours: Any, theirs: Any, field: str = "") -> str | None:
    """Describe how an encoded value differs from Java's, and in which field; None if it does not."""
    match ours, theirs:
        case list(), list() if len(ours) == len(theirs):
            differences = (describe_difference(*pair, field) for pair in zip(ours, theirs, strict=True))
            return next(filter(None, differences), None)
        case {"o": members}, {"o": others} if members.keys() == others.keys():
            differences = (describe_difference(members[key], others[key], key) for key in members)
            return next(filter(None, differences), None)
        case int(), {**single} if not isinstance(ours, bool) and len(single) == 1:
            [(kind, text)] = single.items()
            if any(ours * unit == int(str(text)) for unit in _FINER.get(str(kind), ())):
                return f"a number for Java's {kind}"
    if ours == theirs and type(ours) is type(theirs):
        return None
    return f"{field}: {ours!r:.200} and Java's {theirs!r:.200}"


def request_fates(
    java: JavaProcess,
    records: Sequence[tuple[Sequence[str], Sequence[str] | None, Sequence[bytes]]],
    *,
    values: bool = True,
) -> list[list[tuple[Any, ...]]]:
    """Request the results of decoding bodies, for each writer and reader (None: as written).

    Returns:
        For each body: the error of reading it as written or None, how far that came, the written rules it breaks, the
        error of the reader or None, and its value.
    """
    requests = [
        {"op": "fates", "writer": writer, "bodies": [body.hex() for body in bodies], "values": values}
        | ({} if reader is None else {"reader": reader})
        for writer, reader, bodies in records
    ]
    return [[tuple(fate) for fate in _get_result(answer, "fates")] for answer in java.ask(requests)]


def request_bytes(java: JavaProcess, values: Sequence[tuple[Sequence[str], Sequence[Any]]]) -> list[list[bytes]]:
    """Request the bytes of encoded values, for each schema."""
    requests = [{"op": "write", "writer": writer, "values": list(encoded_values)} for writer, encoded_values in values]
    return [[bytes.fromhex(body) for body in _get_result(answer, "bodies")] for answer in java.ask(requests)]


def _get_result(answer: Mapping[str, Any], word: str) -> Any:
    assert "error" not in answer, answer
    return answer[word]
