"""Comparison of the files and the manifest's settings with the registry."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contractlog.clients.cli.operations.lookups import list_live
from contractlog.clients.cli.plan.registration import FileRegistration, Registration
from contractlog.clients.cli.plan.steps import Register, SetLevel, Step
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
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
    levels = tuple(_find_level_changes(registry, options.manifest, subjects))
    planned_levels = {change.subject: change.after for change in levels}
    registration = Registration(registry, resolver, resolved, planned_levels, options.normalize)
    steps = registration.plan_all(file for file in files if file.key in resolved)
    latest = {subject: max(list_live(registry, subject), default=0) for subject in subjects}
    return registration, Plan(options.manifest, levels, tuple(steps), latest)


def _find_level_changes(registry: Registry, manifest: Manifest | None, subjects: Iterable[str]) -> Iterator[SetLevel]:
    for subject in subjects:
        wanted = None if manifest is None else manifest.find_level(subject)
        if wanted is not None:
            current = registry.level(subject)
            if current is not wanted:
                yield SetLevel(subject, current, wanted)
