"""The two sides of ``contractlog diff``: schemas, or folders of schemas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.compatibility.schema_diff import DiffSide

__all__ = ["FileSide", "FolderSide"]


@dataclass(frozen=True, slots=True)
class FolderSide:
    """The last version of each subject in a folder; a file without a subject has its path as one."""

    name: str  #: as the user wrote it
    schemas: Mapping[str, DiffSide]  #: by subject
    paths: Mapping[str, str]  #: subject -> path of its file, relative to the folder
    unnamed: frozenset[str]  #: those of ``schemas`` that are paths, not subjects
    manifest: Manifest | None = None


@dataclass(frozen=True, slots=True)
class FileSide:
    """A schema, its subject, and the manifest of its folder."""

    schema: DiffSide
    subject: str | None = None
    manifest: Manifest | None = None
