"""Comparison of the files and the manifest's settings with the registry."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from contractlog.clients.cli.operations.lookups import list_live
from contractlog.clients.cli.plan.registration import FileRegistration, Registration
from contractlog.clients.cli.plan.steps import Register, Step, setting_step
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import find_setting_changes, plan_settings
from contractlog.clients.registry import Registry

__all__ = ["Plan", "make_plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that the registry needs to match the files."""

    manifest: Manifest | None
    settings: tuple[Step, ...]
    registrations: tuple[FileRegistration, ...]
    latest: dict[str, int]  #: subject -> number of its latest version; 0 if there is none

    @property
    def refused(self) -> list[FileRegistration]:
        """Files that cannot be registered."""
        return [each for each in self.registrations if each.outcome == "refused"]

    @property
    def is_empty(self) -> bool:
        """True if nothing would change."""
        return not self.settings and all(each.outcome == "unchanged" for each in self.registrations)

    def steps(self) -> list[Step]:
        """Return the changes in the order in which they are made."""
        registrations = [
            Register(each.file.subject, each, self.latest[each.file.subject])
            for each in self.registrations
            if each.outcome == "would register"
        ]
        return [*self.settings, *registrations]

    def drift(self) -> Iterator[tuple[str, int, int]]:
        """Yield drifted subjects: the subject, the version of its file, and the latest version."""
        newest: dict[str, int] = {}
        for each in self.registrations:
            known = 0 if each.schema is None else each.schema.version or 0
            newest[each.file.subject] = max(newest.get(each.file.subject, 0), known)
        registering = {each.file.subject for each in self.registrations if each.outcome != "unchanged"}
        for subject, version in newest.items():
            if subject not in registering and version < self.latest[subject]:
                yield subject, version, self.latest[subject]


def make_plan(
    options: Namespace, registry: Registry, files: Sequence[SchemaFile], unreadable: UnreadableFiles
) -> tuple[Registration, Plan]:
    """Compare the files and the manifest's settings with the registry."""
    resolver = FileResolver(registry, options.normalize)
    resolved = {each.file.key: each for each in resolver.resolve_all(files, unreadable.collect)}
    subjects = dict.fromkeys(file.subject for file in files)
    changes = {subject: list(find_setting_changes(registry, options.manifest, subject)) for subject in subjects}
    manifest = options.manifest
    planned = {
        subject: plan_settings(each, manifest.find_settings(subject) if manifest is not None else None)
        for subject, each in changes.items()
    }
    registration = Registration(registry, resolver, resolved, planned, options.normalize)
    steps = registration.plan_all(file for file in files if file.key in resolved)
    latest = {subject: max(list_live(registry, subject), default=0) for subject in subjects}
    settings = tuple(setting_step(change) for each in changes.values() for change in each)
    return registration, Plan(options.manifest, settings, tuple(steps), latest)
