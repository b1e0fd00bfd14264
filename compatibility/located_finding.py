"""Findings located in the author's file, with position, description and suggested fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.finding import Finding
from contractlog.compatibility.finding_positions import candidate_pointer, find_position
from contractlog.compatibility.fixes.fix_search import Fix
from contractlog.compatibility.formats import find_nonconformity
from contractlog.compatibility.json_positions import Position
from contractlog.compatibility.json_schema.check_catalogue import JSON_SCHEMA_NONCONFORMING
from contractlog.compatibility.level import Direction
from contractlog.compatibility.schema import ParsedSchema

__all__ = ["LocatedFinding", "locate_finding", "locate_nonconformity"]

_NONCONFORMITY_FIX: Final = (
    "change the schema so that it is valid by its meta-schema: serializers and audits cannot use it as it is"
)


@dataclass(frozen=True, slots=True)
class LocatedFinding:
    """A finding with its position in the author's file."""

    finding: Finding
    direction: Direction
    earlier: str  #: the version that it was compared with, in words; empty if the finding is about the schema alone
    pointer: str
    position: Position | None  #: None if it points into a schema that the file references
    fixes: tuple[Fix, ...] = ()  #: verified fixes, the best one first
    field: str | None = None  #: path of the value, such as ``legs[].carrier``; empty: the whole value; None: unknown

    @property
    def fix(self) -> str:
        """The suggested fix: the best verified one, else the generic one of the check."""
        return self.fixes[0].sentence if self.fixes else self.finding.fix

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
            "mend": self.fix,
            "mends": [{"sentence": fix.sentence, "text": fix.text} for fix in self.fixes],
        }


def locate_nonconformity(parsed: ParsedSchema, text: str) -> LocatedFinding | None:
    """Return the finding about a schema that its meta-schema rejects, else None.

    The finding does not break compatibility, whatever the earlier versions.
    """
    problem = find_nonconformity(parsed)
    if problem is None:
        return None
    at = str(problem.facts.get("at") or "")
    finding = Finding(JSON_SCHEMA_NONCONFORMING.id, at, "", problem.message, fix=_NONCONFORMITY_FIX)
    direction = Direction.BACKWARD
    return LocatedFinding(
        finding, direction, "", candidate_pointer(finding, direction), find_position(text, finding, direction)
    )


def locate_finding(
    finding: Finding, direction: Direction, earlier: str, position: Position | None, fixes: tuple[Fix, ...] = ()
) -> LocatedFinding:
    """Build a finding with its position in the text of the file, which ``find_positions`` returns."""
    return LocatedFinding(finding, direction, earlier, candidate_pointer(finding, direction), position, fixes)
