"""Versions and associations of a registry, fetched in a few large requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Final, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls.associations import Association
from contractlog.clients.calls.call import Call
from contractlog.clients.registry import Registry
from contractlog.clients.step_drivers import drive
from contractlog.compatibility.errors import MethodNotAllowed, NotFound
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.spark_validation.expectations.version_catalogue import VersionCatalogue

__all__ = ["MAX_CONCURRENT", "DependencyTexts", "fetch_associations", "fetch_catalogue", "fetch_versions"]

MAX_CONCURRENT: Final = 8  #: requests to the registry or the source
PAGE: Final = 500  #: items per request
ATTEMPTS: Final = 3  #: at a list that changes while it is read
NAMED_TOPICS: Final = 8  #: associations of more topics are listed instead of requested by name
_ANY: Final = "-"  #: wildcard for a name

T = TypeVar("T")


def fetch_catalogue(registry: Registry) -> VersionCatalogue:
    """Fetch every version of the default context, soft-deleted ones too; skip those deleted meanwhile.

    Raises:
        Unreachable: the registry does not respond.
    """
    listed = _list_versions(registry)
    if listed is None:
        return _fetch_each_subject(registry)
    versions: defaultdict[str, dict[int, RegisteredSchema]] = defaultdict(dict)
    for version in listed:
        name = str(version.subject)
        if not name.startswith(":."):  # another context
            versions[name][int(version.version or 0)] = version
    return VersionCatalogue(
        {subject: [numbered[number] for number in sorted(numbered)] for subject, numbered in versions.items()}
    )


def fetch_associations(registry: Registry, topics: Collection[str]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the subjects associated with topics, by topic and part.

    It is empty if the registry has no associations.

    Raises:
        Unreachable: the registry does not respond.
    """
    names = list(topics) if len(topics) <= NAMED_TOPICS else [_ANY]
    subjects: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    lists = _map_concurrently(lambda name: _list_associations(registry, name), names)
    for name, associations in zip(names, lists, strict=True):
        for each in associations:
            topic = each.resource_name or name
            if topic in topics:
                subjects[topic, each.association_type or "value"].add(each.subject)
    return {key: tuple(sorted(associated)) for key, associated in subjects.items()}


class DependencyTexts:
    """Texts of the schemas that schemas depend on: from the catalogue, else from the registry, once each."""

    def __init__(self, registry: Registry, catalogue: VersionCatalogue) -> None:
        self._registry = registry
        self._versions: dict[tuple[str, ...], RegisteredSchema] = {
            calls.version(subject, int(version.version or 0), deleted=True).segments: version
            for subject, versions in catalogue.versions.items()
            for version in versions
        }

    def fetch(self, draft: SchemaDraft) -> Mapping[str, str]:
        """Return the texts of all dependencies by name, each after its own dependencies.

        Raises:
            InvalidSchema: the references form a cycle, or there are too many.
            NotFound: a dependency does not exist.
        """
        return drive(self._send, calls.referenced(draft)) if draft.references else {}

    def _send(self, call: Call[Any]) -> Any:
        version = self._versions.get(call.segments)
        if version is None:
            version = self._versions[call.segments] = self._registry.send(call)
        return version


def _list_versions(registry: Registry) -> list[RegisteredSchema] | None:
    """Return all versions, or None if the registry has no such list, or the list changes too often.

    Each page begins with the last version of the page before; if it does not, the list has changed meanwhile.
    """
    for _ in range(ATTEMPTS):
        versions: list[RegisteredSchema] = []
        while True:
            try:
                page = registry.schemas(deleted=True, offset=max(len(versions) - 1, 0), limit=PAGE)
            except (NotFound, MethodNotAllowed):
                return None
            if versions and not (page and _is_same(page[0], versions[-1])):
                break
            further = page[1:] if versions else page
            if not further:
                return versions
            versions += further
    return None


def _is_same(left: RegisteredSchema, right: RegisteredSchema) -> bool:
    return (left.subject, left.version, left.schema_id) == (right.subject, right.version, right.schema_id)


def _fetch_each_subject(registry: Registry) -> VersionCatalogue:
    subjects = [name for name in registry.subjects(deleted=True) if not name.startswith(":.")]
    histories = _map_concurrently(lambda name: fetch_versions(registry, name), subjects)
    return VersionCatalogue(
        {subject: versions for subject, versions in zip(subjects, histories, strict=True) if versions}
    )


def fetch_versions(registry: Registry, subject: str) -> list[RegisteredSchema]:
    """Return all versions of a subject, soft-deleted ones too; none if it does not exist."""
    versions: list[RegisteredSchema] = []
    with suppress(NotFound):  # a subject or version may be deleted meanwhile
        for number in registry.versions(subject, deleted=True):
            with suppress(NotFound):
                versions.append(registry.version(subject, number, deleted=True))
    return versions


def _list_associations(registry: Registry, name: str) -> list[Association]:
    associations: list[Association] = []
    with suppress(NotFound):  # the registry has no associations
        while True:
            page = registry.associations_by_resource_name(
                name, resource_type="topic", offset=len(associations), limit=PAGE
            )
            if page[:1] == associations[:1]:  # empty, or the registry does not page
                associations = associations or page
                break
            associations += page
            if len(page) < PAGE:
                break
    return associations


def _map_concurrently(ask: Callable[[str], T], names: Sequence[str]) -> list[T]:
    with ThreadPoolExecutor(MAX_CONCURRENT) as threads:
        return list(threads.map(ask, names))
