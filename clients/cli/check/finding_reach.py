"""Fields that are made from the field of a finding, and that its change reaches, by ``--lineage``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from contractlog.clients.cli.impact.changed_field import ChangedField, find_reach, find_topics
from contractlog.clients.cli.impact.known_lineage import KnownLineage
from contractlog.clients.cli.impact.lineage_sources import read_lineage_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.located_finding import LocatedFinding
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.contracts.lineage.lineage_reach import ReachedField

__all__ = ["FindingReach", "ReachCheck", "list_reaches"]

_MAX_NAMED: Final = 3  #: fields that a line names


@dataclass(frozen=True, slots=True)
class FindingReach:
    """Fields that a change of the field of a finding reaches; at least one."""

    changed: ChangedField
    reached: Sequence[ReachedField]  #: the nearest first
    file: Path  #: with the lineage

    def describe(self) -> str:
        """Return a sentence that names the nearest fields, and the command that lists all."""
        names = [f"`{each.field}` of `{each.topic}`" if each.field else f"`{each.topic}`" for each in self.reached]
        command = shell_command("impact", self.changed.name, lineage=str(self.file))
        return f"reaches {list_first(names, _MAX_NAMED)}: `{command}`"

    def body(self) -> list[dict[str, Any]]:
        """Return the JSON objects of all fields."""
        return [each.body() for each in self.reached]


@dataclass
class ReachCheck:
    """Looks up what findings reach; each field of a subject once."""

    lineage: KnownLineage
    file: Path
    _reached: dict[tuple[str, str], FindingReach | None] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path | None) -> ReachCheck | None:
        """Read a file with lineage, if one is given.

        Raises:
            UsageError: it cannot be read.
        """
        return None if file is None else cls(read_lineage_file(file), file)

    def find(self, subject: str, path: str | None) -> FindingReach | None:
        """Return what a change of a field reaches; None if nothing is known."""
        if path is None:
            return None
        key = subject, path
        if key not in self._reached:
            try:
                topics = find_topics(subject, self.lineage)
            except UsageError:  # a subject of keys
                topics = ()
            changed = ChangedField(subject, topics, path)
            reached = find_reach(changed, self.lineage)
            self._reached[key] = FindingReach(changed, reached, self.file) if reached else None
        return self._reached[key]


def list_reaches(
    check: ReachCheck | None, subject: str, findings: Sequence[LocatedFinding]
) -> Mapping[LocatedFinding, FindingReach] | None:
    """Return what findings reach, if anything; None without ``--lineage``."""
    if check is None:
        return None
    reaches = ((finding, check.find(subject, finding.field)) for finding in findings)
    return {finding: reach for finding, reach in reaches if reach is not None}
