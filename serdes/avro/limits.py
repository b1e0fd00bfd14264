"""How much a record may ask for before it is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on what bytes may make a decoder do; the defaults are far above what records are."""

    max_depth: int = 128  #: of records, arrays and maps inside each other
    max_length: int = 2**31 - 1  #: of a string, bytes or a block, as declared
    max_empty_items: int = 1_000_000  #: items that take no bytes at all, in a whole record; a record counts for more
    strict_booleans: bool = True  #: refuse boolean bytes other than 0 and 1, which clients read differently


DEFAULT_LIMITS: Final = Limits()
