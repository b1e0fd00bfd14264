"""Warnings about files of a folder that no command covers, or that may be meant otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

__all__ = ["FolderRule", "FolderWarning"]


class FolderRule(StrEnum):
    """Id of the rule for a warning in reports."""

    FILES_LEFT_OUT = "FILES_LEFT_OUT"
    AVRO_IDL = "AVRO_IDL_LEFT_OUT"
    LINK = "LINK_NOT_FOLLOWED"
    SIMILAR_SUBJECTS = "SUBJECTS_DIFFER_IN_CASE"
    REMOVED_TYPE = "TYPE_FROM_LOCK"


@dataclass(frozen=True, slots=True)
class FolderWarning:
    """A warning about a file or a folder."""

    rule: FolderRule
    path: Path
    message: str  #: names the file

    def body(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {"rule": self.rule.value, "file": str(self.path), "message": self.message}
