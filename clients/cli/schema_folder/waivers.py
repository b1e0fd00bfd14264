"""Waivers of the manifest: breaking changes of a subject that somebody accepts until a day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from contractlog.compatibility.check_spec import DATA_UNREADABLE
from contractlog.compatibility.identifiers import Subject

if TYPE_CHECKING:  # slow to import
    from contractlog.compatibility.located_finding import LocatedFinding

__all__ = ["Waiver", "find_waiver_errors", "parse_waiver"]


@dataclass(frozen=True, slots=True)
class Waiver:
    """Acceptance of one breaking change."""

    subject: str  #: pattern of names
    check: str  #: id of the findings
    reason: str
    by: str
    until: date  #: the last day
    line: int  #: of the manifest
    pointer: str | None = None  #: JSON Pointer of the findings; None: any

    def is_for_subject(self, subject: str) -> bool:
        """Return whether it is for a subject, in any context."""
        return fnmatchcase(Subject.parse(subject).name, self.subject)

    @property
    def needs_level(self) -> bool:
        """False for findings from data: no level rejects a schema for them."""
        return self.check != DATA_UNREADABLE.id

    def covers(self, finding: LocatedFinding) -> bool:
        """Return whether it is for a finding."""
        return finding.finding.check == self.check and self.pointer in {None, finding.pointer}

    def describe(self) -> str:
        """Return what it accepts, who accepts it, until when and why."""
        at = "" if self.pointer is None else f" at {self.pointer or '/'}"
        return f"{self.check}{at} is waived by {self.by} until {self.until}: {self.reason}"


def parse_waiver(entry: Mapping[str, Any], line: int) -> Waiver:
    """Make a waiver from a table of the manifest."""
    return Waiver(
        entry["subject"],
        entry["check"],
        entry["reason"],
        entry["by"],
        date.fromisoformat(entry["until"]),
        line,
        entry.get("path"),
    )


def find_waiver_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield what is wrong with the checks and dates of waivers that the manifest's schema accepts."""
    for index, entry in enumerate(value.get("waivers", ())):
        from contractlog.compatibility.formats import CATALOGUE  # noqa: PLC0415 - slow to import

        if entry["check"] not in CATALOGUE:
            close = get_close_matches(entry["check"].upper(), CATALOGUE, 1)
            hint = f"did you mean `{close[0]}`?" if close else "docs/checks.md lists the checks"
            yield ["waivers", index, "check"], f"there is no check `{entry['check']}`; {hint}"
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            yield ["waivers", index, "until"], f"`{entry['until']}` is not a day of the calendar"
