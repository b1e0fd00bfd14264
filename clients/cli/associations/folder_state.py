"""Facts about the files of a command that decide about associations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["FolderState", "summarize_folder"]


@dataclass(frozen=True, slots=True)
class FolderState:
    """The facts about the files of a command that decide about associations."""

    subjects: Collection[str]
    is_whole: bool  #: whether the files are all those of the manifest's folder
    new: Mapping[str, SchemaDraft] = field(default_factory=dict)  #: subjects that get versions, with the first one
    users: Mapping[str, str] = field(default_factory=dict)  #: referenced subject -> file that refers to it
    writable: Collection[str] = ()  #: subjects whose mode the manifest sets to READWRITE


def summarize_folder(
    new: Iterable[SchemaFile], subjects: Collection[str], manifest: Manifest | None, *, is_whole: bool
) -> FolderState:
    """Return the facts about files that decide about associations.

    Args:
        new: the files that become new versions, in this order.
        subjects: those of all files.
        manifest: the manifest, if there is one.
        is_whole: whether the files are all those of the manifest's folder.
    """
    drafts: dict[str, SchemaDraft] = {}
    users: dict[str, str] = {}
    for file in new:
        drafts.setdefault(file.subject, file.draft)
        referenced = [each.subject for each in file.draft.references] + [each.subject for each in file.planned]
        for subject in referenced:
            users.setdefault(str(resolve_subject(subject, Subject.parse(file.subject).context)), str(file.path))
    modes = {} if manifest is None else {each: manifest.find_settings(each).get("mode") for each in subjects}
    writable = [subject for subject, mode in modes.items() if mode == Mode.READWRITE]
    return FolderState(subjects, is_whole, drafts, users, writable)
