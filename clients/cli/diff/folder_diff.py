"""Differences between two folders of schemas, paired by subject, else by path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.cli.diff.sides import FolderSide
from contractlog.clients.cli.output import count_noun
from contractlog.compatibility.change_classification import ChangeKind
from contractlog.compatibility.named_change import name_changes
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff

__all__ = ["FolderDiff", "diff_body", "diff_folders"]

FOLDERS_FORMAT: Final = "contractlog.diff-folders/1"

_SubjectFile = tuple[str | None, str]  #: subject, None if it has none, and the file


@dataclass(frozen=True, slots=True)
class FolderDiff:
    """Difference between two folders: the last version of each subject."""

    earlier: str
    later: str
    changed: Sequence[tuple[str | None, SchemaDiff]]  #: subject of the later file, and difference
    renamed: Sequence[tuple[str | None, _SubjectFile]]  #: earlier subject; later subject and file
    added: Sequence[_SubjectFile]  #: only the later folder has them
    removed: Sequence[_SubjectFile]  #: only the earlier folder has them

    @property
    def compatible(self) -> bool:
        """True if the level allows every change."""
        return all(difference.compatible for _, difference in self.changed)

    @property
    def summary(self) -> str:
        """The numbers of subjects."""
        incompatible = sum(not difference.compatible for _, difference in self.changed)
        parts = [f"{count_noun(len(self.changed), 'subject')} changed"]
        parts += [f"{incompatible:,} incompatible"] if incompatible else []
        others = (("renamed", self.renamed), ("added", self.added), ("removed", self.removed))
        return ", ".join(parts + [f"{len(subjects):,} {verb}" for verb, subjects in others if subjects])

    def describe_subjects(self) -> Iterator[tuple[str | None, str, str]]:
        """Yield the subjects that are renamed, added or removed, each with its file and a phrase."""
        for before, (after, file) in self.renamed:
            names = [f"`{name}`" if name else "no subject" for name in (before, after)]
            yield after, file, f"has {names[1]}, and had {names[0]} in {self.earlier}"
        for verb, subjects in (("added", self.added), ("removed", self.removed)):
            for subject, file in subjects:
                yield subject, file, f"`{subject}` was {verb}" if subject else f"was {verb}; it has no subject"

    def body(self) -> dict[str, Any]:
        """Return the JSON-compatible form."""
        return {
            "format": FOLDERS_FORMAT,
            "earlier": self.earlier,
            "later": self.later,
            "compatible": self.compatible,
            "added": [{"subject": subject, "file": file} for subject, file in self.added],
            "removed": [{"subject": subject, "file": file} for subject, file in self.removed],
            "renamed": [{"from": before, "to": after, "file": file} for before, (after, file) in self.renamed],
            "changed": [{"subject": subject} | diff_body(difference) for subject, difference in self.changed],
        }


def diff_body(difference: SchemaDiff) -> dict[str, Any]:
    """Return the JSON-compatible form of a difference, with its named changes."""
    return difference.body() | {"changes": [change.body() for change in name_changes(difference)]}


def diff_folders(
    earlier: FolderSide, later: FolderSide, compare: Callable[[DiffSide, DiffSide, str | None], SchemaDiff]
) -> FolderDiff:
    """Compare the schemas of two folders."""
    pairs = {subject: subject for subject in later.schemas if subject in earlier.schemas}
    pairs |= _pair_by_path(earlier, later)
    changed = []
    for after, before in sorted(pairs.items()):
        difference = compare(earlier.schemas[before], later.schemas[after], _subject(later, after))
        if difference.change.kind is not ChangeKind.NONE:
            changed.append((_subject(later, after), difference))
    return FolderDiff(
        earlier.name,
        later.name,
        changed,
        [
            (_subject(earlier, before), _file(later, after))
            for after, before in sorted(pairs.items())
            if after != before
        ],
        [_file(later, subject) for subject in later.schemas if subject not in pairs],
        [_file(earlier, subject) for subject in earlier.schemas if subject not in pairs.values()],
    )


def _pair_by_path(earlier: FolderSide, later: FolderSide) -> Iterator[tuple[str, str]]:
    """Yield the later and the earlier subject of each file that has another subject in both folders."""
    by_path: dict[str, list[str]] = {}
    for subject in earlier.schemas:
        if subject not in later.schemas:
            by_path.setdefault(earlier.paths[subject], []).append(subject)
    for subject in later.schemas:
        if subject not in earlier.schemas and by_path.get(later.paths[subject]):
            yield subject, by_path[later.paths[subject]].pop(0)


def _file(side: FolderSide, subject: str) -> _SubjectFile:
    return _subject(side, subject), side.schemas[subject].name


def _subject(side: FolderSide, subject: str) -> str | None:
    return None if subject in side.unnamed else subject
