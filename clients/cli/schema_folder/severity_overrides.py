"""Entries of the manifest that turn a check or a lint rule on or off, or change its severity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from contractlog.compatibility.lint.rule import Severity

__all__ = [
    "SeverityOverride",
    "find_check_errors",
    "find_lint_errors",
    "parse_severity_override",
]


@dataclass(frozen=True, slots=True)
class SeverityOverride:
    """Another severity of a check or lint rule for some files, or none of its findings."""

    name: str  #: id of the check or rule
    severity: Severity | None  #: None: it is off
    reason: str
    line: int  #: of the manifest
    path: str = "**"
    subject: str = "*"
    until: date | None = None  #: the last day

    def is_expired(self, today: date) -> bool:
        """Return whether the last day has passed."""
        return self.until is not None and self.until < today

    def matches_subject(self, names: Iterable[str]) -> bool:
        """Return whether it is for one of the subjects, whose names are without contexts."""
        return self.subject == "*" or any(fnmatchcase(name, self.subject) for name in names)

    def describe_end(self) -> str:
        """Return the sentence about an entry whose last day has passed."""
        return (
            f"the entry for {self.name} ended on {self.until}, and its default applies again: fix the findings, or set "
            "another `until`"
        )


def parse_severity_override(entry: Mapping[str, Any], name: str, line: int) -> SeverityOverride:
    """Make an entry from a table of the manifest; ``name`` is the key with the id."""
    severity = None if entry["severity"] == "off" else Severity(entry["severity"])
    until = date.fromisoformat(entry["until"]) if "until" in entry else None
    path, subject = entry.get("path", "**"), entry.get("subject", "*")
    return SeverityOverride(entry[name], severity, entry["reason"], line, path, subject, until)


def find_lint_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield what is wrong with the lint rules and dates of a manifest that its schema accepts."""
    for index, entry in enumerate(value.get("lint", ())):
        from contractlog.compatibility.lint.linter import LINT_RULES  # noqa: PLC0415 - slow to import

        if entry["rule"] not in LINT_RULES:
            close = get_close_matches(entry["rule"].upper(), LINT_RULES, 1)
            hint = f"did you mean `{close[0]}`?" if close else "`contractlog lint --rules` lists the rules"
            yield ["lint", index, "rule"], f"there is no lint rule `{entry['rule']}`; {hint}"
        yield from _find_date_errors("lint", index, entry)


def find_check_errors(value: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    """Yield what is wrong with the checks and dates of a manifest that its schema accepts."""
    for index, entry in enumerate(value.get("checks", ())):
        from contractlog.compatibility.formats import CATALOGUE, OPTIONAL_CHECKS  # noqa: PLC0415 - slow to import

        check = entry["check"]
        if check not in CATALOGUE:
            close = get_close_matches(check.upper(), CATALOGUE, 1)
            hint = f"did you mean `{close[0]}`?" if close else "docs/checks.md lists the checks"
            yield ["checks", index, "check"], f"there is no check `{check}`; {hint}"
        elif check not in OPTIONAL_CHECKS:
            message = (
                f"`{check}` cannot be changed here, because the registry refuses such a schema by its compatibility "
                "level: change the level, or accept the change in [[waivers]]"
            )
            yield ["checks", index, "check"], message
        yield from _find_date_errors("checks", index, entry)


def _find_date_errors(key: str, index: int, entry: Mapping[str, Any]) -> Iterator[tuple[Sequence[str | int], str]]:
    try:
        date.fromisoformat(entry.get("until", "2000-01-01"))
    except ValueError:
        yield [key, index, "until"], f"`{entry['until']}` is not a day of the calendar"
