"""Decoder of variable-length integers, many records at a time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome

__all__ = ["INT_BYTES", "LONG_BYTES", "read_varints"]

INT_BYTES: Final = 5
LONG_BYTES: Final = 10

_MORE: Final = 0x80
_GROUP: Final = 7
_LAST_OF_INT: Final = 0x0F  # highest value of the fifth byte, which adds to 28 bits
_LAST_OF_LONG: Final = 0x01  # highest value of the tenth byte, which adds to 63 bits
_ONE_BYTE: Final = np.array([(n >> 1) ^ -(n & 1) for n in range(_MORE)], np.int64)


def read_varints(
    data: NDArray[np.uint8], pos: NDArray[np.int64], end: NDArray[np.int64], max_bytes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8] | None]:
    """Read one zigzag integer at each position.

    Args:
        data: all bytes; not empty.
        pos: start of each integer.
        end: end of each record.
        max_bytes: ``INT_BYTES`` or ``LONG_BYTES``.

    Returns:
        The integers, the positions after them, and an outcome for each, or None if all are valid.
    """
    byte = data.take(pos, mode="clip")
    after = pos + 1
    long = byte >= _MORE
    codes: NDArray[np.uint8] | None = None
    if not long.any():
        values = _ONE_BYTE.take(byte)
    else:
        raw = byte.astype(np.uint64)
        raw &= np.uint64(_MORE - 1)
        codes = _read_rest(data, raw, after, np.flatnonzero(long), max_bytes)
        values = (raw >> np.uint64(1)).view(np.int64) ^ -(raw & np.uint64(1)).view(np.int64)
    short = after > end
    if short.any():
        codes = np.zeros(pos.size, np.uint8) if codes is None else codes
        codes[short] = Outcome.TRUNCATED
    return values, after, codes


def _read_rest(
    data: NDArray[np.uint8], raw: NDArray[np.uint64], after: NDArray[np.int64], going: NDArray[np.intp], max_bytes: int
) -> NDArray[np.uint8] | None:
    """Read the bytes after the first; update ``raw`` and ``after`` in place."""
    for nth in range(1, max_bytes):
        at = after[going]
        byte = data.take(at, mode="clip")
        after[going] = at + 1
        raw[going] |= (byte & np.uint8(_MORE - 1)).astype(np.uint64) << np.uint64(nth * _GROUP)
        if nth == max_bytes - 1:
            return _check_last_byte(byte, going, raw.size, max_bytes)
        more = byte >= _MORE
        if not more.all():
            going = going[more]
            if not going.size:
                break
    return None


def _check_last_byte(
    byte: NDArray[np.uint8], going: NDArray[np.intp], size: int, max_bytes: int
) -> NDArray[np.uint8] | None:
    """Return the outcomes of integers of maximum length, by their last byte; None if all are valid."""
    maximum = _LAST_OF_INT if max_bytes == INT_BYTES else _LAST_OF_LONG
    over = byte > maximum
    if not over.any():
        return None
    codes = np.zeros(size, np.uint8)
    codes[going[over]] = Outcome.INT_OUT_OF_RANGE if max_bytes == INT_BYTES else Outcome.BAD_VARINT
    codes[going[byte >= _MORE]] = Outcome.BAD_VARINT
    return codes
