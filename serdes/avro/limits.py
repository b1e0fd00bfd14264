"""Limits on what a record may demand of a decoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the work that bytes may cause in a decoder, far above that of real records by default."""

    max_depth: int = 128  #: nesting of records, arrays and maps
    max_length: int = 2**31 - 1  #: declared length of a string, bytes or a block, in bytes
    max_empty_items: int = (
        1_000_000  #: values of a whole record without bytes or by default; a record counts as several
    )
    strict_booleans: bool = True  #: reject boolean bytes other than 0 and 1, which clients read differently


DEFAULT_LIMITS: Final = Limits()
