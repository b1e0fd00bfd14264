"""Modes of a subject or context."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from contractlog.compatibility.errors import InvalidMode

__all__ = ["IMPORT_MODES", "READ_ONLY_MODES", "Mode"]


class Mode(StrEnum):
    """A mode: the writes that a subject or context allows."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"
    FORWARD = "FORWARD"

    @classmethod
    def parse(cls, text: str) -> Mode:
        """Parse a mode, ignoring case.

        Raises:
            InvalidMode: not a valid mode.
        """
        try:
            return cls(text.upper())
        except ValueError:
            raise InvalidMode from None


#: modes in which schemas are registered with ids
IMPORT_MODES: Final = frozenset({Mode.IMPORT, Mode.FORWARD})
#: modes that reject every write except a change of the mode
READ_ONLY_MODES: Final = frozenset({Mode.READONLY, Mode.READONLY_OVERRIDE})
