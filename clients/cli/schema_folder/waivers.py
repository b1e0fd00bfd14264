"""Waivers of the manifest: findings of a subject that somebody accepts until a day."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.json_positions import split_pointer

__all__ = ["LINT_PREFIX", "Waiver", "describe_silenced", "find_waiver_errors", "parse_waiver"]

LINT_PREFIX: Final = "LINT_"  #: of the ids of lint rules


@dataclass(frozen=True, slots=True)
class Waiver:
    """Acceptance of one finding: a breaking or dangerous change, one from data, or one of a lint rule."""

    subject: str  #: pattern of names
    check: str  #: id of the findings
    reason: str
    by: str
    until: date  #: the last day
    line: int  #: of the manifest
    pointer: str | None = None  #: JSON Pointer of the findings; None: any

    @property
    def is_for_lint(self) -> bool:
        """True for findings of a lint rule."""
        return self.check.startswith(LINT_PREFIX)

    def is_for_subject(self, subject: str) -> bool:
        """Return whether it is for a subject, in any context."""
        return fnmatchcase(Subject.parse(subject).name, self.subject)

    def covers(self, check: str, pointer: str, subject: str, dependencies: Mapping[str, str]) -> bool:
        """Return whether it is for a finding.

        A waiver of a shared type covers the findings in the type where they appear in its users.

        Args:
            check: id of the finding.
            pointer: its pointer, such as ``/fields/0``, or ``Money#/fields/0`` in a schema that the file refers to.
            subject: subject of the file.
            dependencies: name -> subject of the schemas that the file refers to.
        """
        if check != self.check:
            return False
        if self.is_for_subject(subject) and self.pointer in {None, pointer}:
            return True
        name, inner = split_pointer(pointer)
        return name in dependencies and self.is_for_subject(dependencies[name]) and self.pointer in {None, inner}

    def describe(self) -> str:
        """Return what it accepts, who accepts it, until when and why."""
        at = "" if self.pointer is None else f" at {self.pointer or '/'}"
        return f"{self.check}{at} is waived by {self.by} until {self.until}: {self.reason}"

    def describe_end(self) -> str:
        """Return the sentence about a waiver whose last day has passed."""
        return f"the waiver of {self.check} by {self.by} ended on {self.until}: fix the schema, or agree on another day"

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "subject": self.subject,
            "check": self.check,
            "path": self.pointer,
            "reason": self.reason,
            "by": self.by,
            "until": str(self.until),
            "line": self.line,
        }


def describe_silenced(number: int) -> str:
    """Return the line about a number of findings that waivers silence."""
    if number == 1:
        return "1 finding is silenced by a waiver; --verbose shows it"
    return f"{number:,} findings are silenced by waivers; --verbose shows them"


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
        checks, where = _list_checks(entry["check"])
        if entry["check"] not in checks:
            close = get_close_matches(entry["check"].upper(), checks, 1)
            hint = f"did you mean `{close[0]}`?" if close else f"{where} lists them"
            yield ["waivers", index, "check"], f"there is no check `{entry['check']}`; {hint}"
        try:
            date.fromisoformat(entry["until"])
        except ValueError:
            yield ["waivers", index, "until"], f"`{entry['until']}` is not a day of the calendar"


def _list_checks(name: str) -> tuple[Mapping[str, Any], str]:
    """Return the checks among which one is searched, and the list of them for people."""
    if name.upper().startswith(LINT_PREFIX):
        from contractlog.compatibility.lint.linter import LINT_RULES  # noqa: PLC0415 - slow to import

        return LINT_RULES, "`contractlog lint --rules`"
    from contractlog.compatibility.formats import CATALOGUE  # noqa: PLC0415 - slow to import

    return CATALOGUE, "docs/checks.md"
