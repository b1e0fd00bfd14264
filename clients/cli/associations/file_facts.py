"""Facts about the files of a command: the input of the comparison of associations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["FileFacts", "collect_file_facts"]


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts about the files of a command that determine which associations can be set."""

    subjects: Collection[str]  #: subjects of the files
    covers_folder: bool  #: whether the command reads all files of the manifest's folder
    #: subject that gets new versions -> the first of them
    first_drafts: Mapping[str, SchemaDraft] = field(default_factory=dict)
    referrers: Mapping[str, str] = field(
        default_factory=dict
    )  #: referenced subject -> path of a file that refers to it
    writable: Collection[str] = ()  #: subjects whose mode the manifest sets to READWRITE


def collect_file_facts(
    new_files: Iterable[SchemaFile], subjects: Collection[str], manifest: Manifest | None, *, covers_folder: bool
) -> FileFacts:
    """Collect the facts from the files and the manifest.

    Args:
        new_files: the files that become new versions, in the order of registration.
        subjects: the subjects of all files.
        manifest: the manifest, if there is one.
        covers_folder: whether the command reads all files of the manifest's folder.
    """
    drafts: dict[str, SchemaDraft] = {}
    referrers: dict[str, str] = {}
    for file in new_files:
        drafts.setdefault(file.subject, file.draft)
        referenced = [each.subject for each in file.draft.references] + [each.subject for each in file.planned]
        for subject in referenced:
            referrers.setdefault(str(resolve_subject(subject, Subject.parse(file.subject).context)), str(file.path))
    modes = {} if manifest is None else {each: manifest.find_settings(each).get("mode") for each in subjects}
    writable = [subject for subject, mode in modes.items() if mode == Mode.READWRITE]
    return FileFacts(subjects, covers_folder, drafts, referrers, writable)
