"""How strictly versions follow each other, and what may be written."""

from __future__ import annotations

from enum import Enum, StrEnum

from contractlog.compatibility.errors import InvalidLevel, InvalidMode

__all__ = ["Direction", "Level", "Mode"]


class Direction(Enum):
    """Who reads whom when a candidate is compared with an earlier version."""

    BACKWARD = "BACKWARD"  #: the candidate reads what the earlier version wrote
    FORWARD = "FORWARD"  #: the earlier version reads what the candidate writes


class Level(StrEnum):
    """A compatibility level: which directions must hold, against how much of the history."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @classmethod
    def parse(cls, text: str) -> Level:
        """Read a level in any case.

        Raises:
            InvalidLevel: it is none of the seven.
        """
        try:
            return cls(text.upper())
        except ValueError:
            raise InvalidLevel from None

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions to check, in the order in which messages are listed: forward first."""
        forward = (Direction.FORWARD,) if self.startswith(("FORWARD", "FULL")) else ()
        backward = (Direction.BACKWARD,) if self.startswith(("BACKWARD", "FULL")) else ()
        return forward + backward

    @property
    def transitive(self) -> bool:
        """Whether all live versions count, and not the latest alone."""
        return self.endswith("_TRANSITIVE")


class Mode(StrEnum):
    """What may be written to a subject."""

    READWRITE = "READWRITE"
    READONLY = "READONLY"
    READONLY_OVERRIDE = "READONLY_OVERRIDE"
    IMPORT = "IMPORT"
    FORWARD = "FORWARD"

    @classmethod
    def parse(cls, text: str) -> Mode:
        """Read a mode in any case.

        Raises:
            InvalidMode: it is none of them.
        """
        try:
            return cls(text.upper())
        except ValueError:
            raise InvalidMode from None
