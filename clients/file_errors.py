"""Errors in files that control a command, such as the manifest, with their positions as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from contractlog.compatibility.errors import UsageError

__all__ = ["ControlFile", "FileError", "control_file_error", "list_file_errors", "rename_in_error"]


class ControlFile(StrEnum):
    """Kind of a file that controls a command, and the id of the rule for its errors in reports."""

    MANIFEST = "MANIFEST_INVALID"
    LOCK = "LOCK_INVALID"
    IGNORE_FILE = "IGNORE_FILE_INVALID"
    PLAN = "PLAN_INVALID"


@dataclass(frozen=True, slots=True)
class FileError:
    """An error in a file that controls a command."""

    rule: ControlFile
    path: Path
    message: str  #: names the file only if there is no line
    line: int | None = None  #: counted from 1
    column: int | None = None

    def describe(self) -> str:
        """Return one line for people, with the position."""
        position = "".join(f":{number}" for number in (self.line, self.column) if number is not None)
        return self.message if self.line is None else f"{self.path}{position}: {self.message}"


def control_file_error(errors: Sequence[FileError]) -> UsageError:
    """Return an exception with at least one error; ``list_file_errors`` returns them."""
    first, *others = errors
    return UsageError(first.describe(), details=[each.describe() for each in others], file_errors=tuple(errors))


def list_file_errors(error: Exception) -> tuple[FileError, ...]:
    """Return the errors in files that control a command; none if the exception is about others."""
    facts = error.facts if isinstance(error, UsageError) else {}
    errors: tuple[FileError, ...] = facts.get("file_errors", ())
    return errors


def rename_in_error(error: UsageError, path: str, name: str) -> UsageError:
    """Return the exception with the name that the user knows for the paths of a copy."""
    facts = dict(error.facts)
    if "details" in facts:
        facts["details"] = [text.replace(path, name) for text in facts["details"]]
    facts["file_errors"] = tuple(
        replace(each, path=Path(str(each.path).replace(path, name)), message=each.message.replace(path, name))
        for each in list_file_errors(error)
    )
    return UsageError(str(error).replace(path, name), **facts)
