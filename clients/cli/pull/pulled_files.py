"""Files that ``contractlog pull`` writes, and those that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from contractlog.clients.atomic_file import open_atomically
from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.json_formatter import format_json
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.file_names import (
    file_name,
    folder_version,
    format_of,
    has_topic_subject,
    subject_from_name,
)
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import MAX_FILE_BYTES
from contractlog.clients.lock_file import file_digests
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["MissingSubject", "PullFolder", "PulledFile", "SharedFileError"]

PullOutcome = Literal["new", "changed", "unchanged", "edited"]
FindVersion = Callable[[str], int | None]
_EDITED: Final = "it was edited since the last pull"
_UNREGISTERED: Final = "it was edited locally (its content is not a registered version)"


class SharedFileError(UsageError):
    """Two subjects have the same file, and different schemas."""


@dataclass(frozen=True, slots=True)
class MissingSubject:
    """A listed subject that was not pulled, for example because it was deleted meanwhile."""

    subject: str
    message: str  #: the reason, for people


@dataclass(frozen=True, slots=True)
class PulledFile:
    """A pulled version, its file, and the outcome."""

    path: Path
    subject: str
    schema: RegisteredSchema
    outcome: PullOutcome
    reason: str = _EDITED  #: why an edited file was kept

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "file": str(self.path),
            "subject": self.subject,
            "version": self.schema.version,
            "schema_id": self.schema.schema_id,
            "outcome": self.outcome,
            "references": [reference.body() for reference in self.schema.references],
        }


class _ExistingFile(NamedTuple):
    path: Path
    version: int | None  #: the number that is the name of its folder; None if the folder is no version folder


@dataclass
class PullFolder:
    """The folder that a pull writes to.

    A subject that already has a file in the folder, at any depth, keeps that file; the others get new files.
    """

    out: Path
    manifest: Manifest | None = None
    overwrites: bool = False  #: whether to overwrite files that were edited since the last pull
    _digests: dict[str, str] = field(init=False)
    _existing: dict[str, list[_ExistingFile]] = field(init=False)
    _written: dict[Path, tuple[str, str]] = field(default_factory=dict)  #: path -> subject and text

    def __post_init__(self) -> None:
        self._digests = file_digests(self.out)
        self._existing = _list_existing(self.out, self.manifest)

    def write(
        self,
        subject: str,
        schema: RegisteredSchema,
        text: str,
        *,
        history: bool,
        find_version: FindVersion,
    ) -> tuple[Path, PullOutcome, str]:
        """Write a version to its file, unless that was edited.

        Args:
            subject: the subject as files name it.
            schema: the version.
            text: the text of its file.
            history: whether each version of the subject gets a file of its own.
            find_version: returns the number of the subject's version that has a text, or None. A file whose text is
                a registered version can be overwritten.

        Returns:
            the path, the outcome, and why the file was kept.

        Raises:
            SharedFileError: the file was written with another schema, for another subject.
            UsageError: the file cannot be written.
        """
        path = self._locate(subject, schema, find_version, history=history)
        other, other_text = self._written.setdefault(path, (subject, text))
        if other_text != text:
            raise SharedFileError(
                f"`{path}` is also the file of `{other}`, whose schema differs: give each a file of its own"
            )
        try:
            return path, *self._write(path, text, schema, find_version)
        except (OSError, UnicodeEncodeError) as error:
            raise UsageError(f"`{path}` cannot be written: {getattr(error, 'strerror', None) or error}") from None

    def _write(
        self, path: Path, text: str, schema: RegisteredSchema, find_version: FindVersion
    ) -> tuple[PullOutcome, str]:
        if not path.resolve().is_relative_to(self.out.resolve()):
            raise UsageError(f"`{path}` leads to `{path.resolve()}`, outside `{self.out}`: remove the symbolic link")
        before = read_bounded_file(path, MAX_FILE_BYTES) if path.exists() else None
        content = text.encode()
        if before == content:
            return "unchanged", ""
        if before is not None and not self.overwrites:
            earlier_text = before.decode("utf-8-sig", "replace")
            number = schema.version if format_json(earlier_text) == text else find_version(earlier_text)
            if number == schema.version:
                return "unchanged", ""
            digest = self._digests.get(path.relative_to(self.out).as_posix())
            if number is None and digest != sha256(before).hexdigest():
                return "edited", _UNREGISTERED if digest is None else _EDITED
        path.parent.mkdir(parents=True, exist_ok=True)
        with open_atomically(path) as file:
            file.write(content)
        return "new" if before is None else "changed", ""

    def _locate(self, subject: str, schema: RegisteredSchema, find_version: FindVersion, *, history: bool) -> Path:
        """Return the path of a version: its existing file, or a path beside other files of the subject."""
        existing = [each for each in self._existing.get(subject, ()) if format_of(each.path) is schema.type]
        single = next((each.path for each in existing if each.version is None), None)
        if single is not None and not history:
            return single
        versions = {each.version: each.path for each in existing if each.version is not None}
        number = int(schema.version or 0)
        if number in versions:
            return versions[number]
        if versions:
            last = versions[max(versions)]
            if not history and find_version(last.read_text("utf-8-sig", "replace")) == number:
                return last
            return last.parent.parent / str(number) / last.name
        top, name = (self.out, file_name(subject, schema.type)) if single is None else (single.parent, single.name)
        return top / str(number) / name if history else top / name


def _list_existing(out: Path, manifest: Manifest | None) -> dict[str, list[_ExistingFile]]:
    """Return the files of a folder by their subjects, as the other commands read them."""
    problems = UnreadableFiles()
    groups = collect_files([str(out)], manifest=manifest, unreadable=problems)
    existing = {
        subject: [_ExistingFile(file.path, file.version) for file in files] for subject, files in groups.items()
    }
    for path, _ in problems.problems:
        if path.is_file() and has_topic_subject(path):
            existing.setdefault(subject_from_name(path), []).append(_ExistingFile(path, folder_version(path)))
    return {
        subject: [each._replace(version=None) if each.path.parent == out else each for each in files]
        for subject, files in existing.items()
    }
