"""Versions of subjects in an environment, in few requests where the registry has extensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from contractlog.clients.cli.promotion.connected_environment import ConnectedEnvironment
from contractlog.clients.cli.registry_lookups import fetch_if_supported, list_live
from contractlog.compatibility.errors import Forbidden, NotFound, RegistryError, SubjectNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["EnvironmentVersions", "TargetSubject", "has_own_mode"]

_PAGE: Final = 1_000  #: versions in one response
_LEAST_SUBJECTS: Final = 10  #: for fewer, their versions are requested one by one
_ANY_SUBJECT: Final = "contractlog-promotion"  #: the request for permissions names a subject, which need not exist

_Versions = Mapping[str, Mapping[int, RegisteredSchema]]


@dataclass(slots=True)
class TargetSubject:
    """A subject of the target as it is before the promotion."""

    live: list[int]
    highest: int  #: number of the last version, deleted ones included; 0 if there never was one
    mode: Mode  #: the mode in force
    has_mode: bool = False  #: whether that is a setting of the subject itself; known once it is in mode IMPORT
    keeps_ids: bool = False


@dataclass
class EnvironmentVersions:
    """The versions of an environment, fetched as a list if there are many subjects, else one by one.

    A list has all versions of the context, so it is given up if it has more pages than there are subjects.
    """

    side: ConnectedEnvironment
    subjects: Sequence[str]  #: shared names
    _live: _Versions | None = None
    _every: _Versions | None = None
    _texts: dict[int, str] | None = None  #: by id, of the context; None: not listed

    def list_live_versions(self) -> None:
        """Fetch the live versions of all subjects, if the registry can list them."""
        if self._can_list():
            self._live = self._list_versions(deleted=False)

    def list_every_version(self) -> None:
        """Fetch the versions of all subjects, deleted ones included, if the registry can list them."""
        self.list_live_versions()
        self._every = None if self._live is None else self._list_versions(deleted=True)
        if self._every is not None:
            self._texts = {
                schema.schema_id: schema.text for versions in self._every.values() for schema in versions.values()
            }

    def read_live(self, subject: str) -> list[RegisteredSchema]:
        """Return the live versions of a subject, the oldest first."""
        qualified = self.side.qualify(subject)
        if self._live is not None and qualified in self._live:
            versions = self._live[qualified]
            return [versions[number] for number in sorted(versions)]
        registry = self.side.registry
        return [registry.version(qualified, number) for number in list_live(registry, qualified)]

    def read_version(self, subject: str, number: int) -> RegisteredSchema:
        """Return a live version."""
        qualified = self.side.qualify(subject)
        listed = (self._live or {}).get(qualified, {}).get(number)
        return self.side.registry.version(qualified, number) if listed is None else listed

    def read_target_subject(self, subject: str) -> TargetSubject:
        """Return the numbers of the versions of a subject, and its mode."""
        qualified, registry = self.side.qualify(subject), self.side.registry
        if self._every is not None and self._live is not None and qualified in self._every:
            every, live = list(self._every[qualified]), sorted(self._live.get(qualified, ()))
        else:
            try:
                every = registry.versions(qualified, deleted=True)
            except SubjectNotFound:
                every = []
            live = list_live(registry, qualified) if every else []
        return TargetSubject(live, max(every, default=0), registry.mode(qualified))

    def find_text(self, subject: str, schema_id: int) -> str | None:
        """Return the text with an id in the context of a subject, or None if there is none."""
        context = Subject.parse(self.side.qualify(subject)).context
        if self._texts is not None and context == self.side.context:
            return self._texts.get(schema_id)
        try:
            return self.side.registry.text_of_id(schema_id, subject=f":{context}:")
        except NotFound:
            return None

    def _can_list(self) -> bool:
        """Return whether listing is worth it, and the registry is one whose lists are known to be complete."""
        if len(self.subjects) < _LEAST_SUBJECTS:
            return False
        try:
            return fetch_if_supported(lambda: self.side.registry.permissions(_ANY_SUBJECT)) is not None
        except RegistryError:
            return False

    def _list_versions(self, *, deleted: bool) -> _Versions | None:
        """Return the versions of the context by subject and number, or None if there are too many."""
        most = _PAGE * len(self.subjects)
        pages = self.side.registry.each_schema(prefix=f":{self.side.context}:", deleted=deleted, page=_PAGE)
        try:
            schemas = list(islice(pages, most + 1))
        except Forbidden:  # the caller may not read every subject of the context
            return None
        if len(schemas) > most:
            return None
        versions: dict[str, dict[int, RegisteredSchema]] = {}
        for schema in schemas:
            if schema.subject is not None and schema.version is not None:
                versions.setdefault(str(schema.subject), {})[schema.version] = schema
        return versions


def has_own_mode(side: ConnectedEnvironment, subject: str) -> bool:
    """Return whether a subject has a mode of its own."""
    try:
        side.registry.mode(side.qualify(subject), inherited=False)
    except NotFound:
        return False
    return True
