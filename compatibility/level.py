"""Compatibility levels, and the directions of their checks."""

from __future__ import annotations

from enum import Enum, StrEnum

from contractlog.compatibility.errors import InvalidLevel

__all__ = ["Direction", "Level"]


class Direction(Enum):
    """Direction of a comparison between a candidate and an earlier version."""

    BACKWARD = "BACKWARD"  #: the candidate reads what the earlier version wrote
    FORWARD = "FORWARD"  #: the earlier version reads what the candidate writes


class Level(StrEnum):
    """A compatibility level: the directions to check, against the latest version or all of them."""

    NONE = "NONE"
    BACKWARD = "BACKWARD"
    BACKWARD_TRANSITIVE = "BACKWARD_TRANSITIVE"
    FORWARD = "FORWARD"
    FORWARD_TRANSITIVE = "FORWARD_TRANSITIVE"
    FULL = "FULL"
    FULL_TRANSITIVE = "FULL_TRANSITIVE"

    @classmethod
    def parse(cls, text: str) -> Level:
        """Parse a level, ignoring case.

        Raises:
            InvalidLevel: not one of the seven levels.
        """
        try:
            return cls(text.upper())
        except ValueError:
            raise InvalidLevel from None

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions to check, in the order of the messages: forward first."""
        forward = (Direction.FORWARD,) if self.startswith(("FORWARD", "FULL")) else ()
        backward = (Direction.BACKWARD,) if self.startswith(("BACKWARD", "FULL")) else ()
        return forward + backward

    @property
    def transitive(self) -> bool:
        """True if all live versions are checked, not only the latest."""
        return self.endswith("_TRANSITIVE")
