"""A change between two schemas as a format lists it, before the findings about it are known."""

from __future__ import annotations

from dataclasses import dataclass

from contractlog.compatibility.level import Direction

__all__ = ["StructuralChange"]


@dataclass(frozen=True, slots=True)
class StructuralChange:
    """A change in words, with the positions of findings about it."""

    text: str
    positions: tuple[tuple[str, str], ...]  #: JSON Pointers into the later and the earlier schema, as in findings
    direction: Direction | None = None  #: the only direction whose findings may be about it
    checks: frozenset[str] = frozenset()  #: whose findings are about it, not about other changes at its position
    covers_inner: bool = False  #: findings below its position are about it, too
