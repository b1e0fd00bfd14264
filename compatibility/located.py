"""Findings located in the author's file, with position, description and suggested fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.checks import JSON_SCHEMA_NONCONFORMING
from contractlog.compatibility.finding import Finding
from contractlog.compatibility.level import Direction
from contractlog.compatibility.mends import Mend
from contractlog.compatibility.parsing import nonconformity
from contractlog.compatibility.positions import Position, candidate_at, place
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["Located", "located", "located_nonconformity"]

_CONFORM: Final = (
    "change the schema so that it is valid by its meta-schema: serializers and audits cannot use it as it is"
)


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with its position in the author's file."""

    finding: Finding
    direction: Direction
    earlier: str  #: the version that it was compared with, in words; empty if the finding is about the schema alone
    pointer: str
    position: Position | None  #: None if it points into a schema that the file references
    mends: tuple[Mend, ...] = ()  #: verified fixes, the best one first

    @property
    def mend(self) -> str:
        """The suggested fix: the best verified one, else the generic one of the check."""
        return self.mends[0].sentence if self.mends else self.finding.mend

    def body(self) -> dict[str, Any]:
        """Return the finding as a JSON-compatible value."""
        return {
            "check": self.finding.check,
            "direction": self.direction.value,
            "compared_with": self.earlier,
            "pointer": self.pointer,
            "line": None if self.position is None else self.position.line,
            "column": None if self.position is None else self.position.column,
            "detail": self.finding.detail,
            "mend": self.mend,
            "mends": [{"sentence": mend.sentence, "text": mend.text} for mend in self.mends],
        }


def located_nonconformity(parsed: ParsedSchema, text: str) -> Located | None:
    """Return the finding about a schema that its meta-schema rejects, else None.

    The finding does not break compatibility, whatever the earlier versions.
    """
    problem = nonconformity(parsed)
    if problem is None:
        return None
    at = str(problem.facts.get("at") or "")
    finding = Finding(JSON_SCHEMA_NONCONFORMING.id, at, "", problem.message, mend=_CONFORM)
    direction = Direction.BACKWARD
    return Located(finding, direction, "", candidate_at(finding, direction), place(text, finding, direction))


def located(
    finding: Finding, direction: Direction, earlier: str, position: Position | None, mends: tuple[Mend, ...] = ()
) -> Located:
    """Build a finding with its position in the text of the file, which ``positions.places`` returns."""
    return Located(finding, direction, earlier, candidate_at(finding, direction), position, mends)
