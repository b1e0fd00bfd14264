"""Finding subjects, versions and schemas."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Concatenate, Final, ParamSpec, TypeVar

from contractlog.compatibility.errors import SchemaNotFound, SubjectNotFound, VersionNotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Holder, Seen

__all__ = ["Lookup"]

P = ParamSpec("P")
T = TypeVar("T")

_EVERY_CONTEXT: Final = ":*:"
_GUID: Final = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})", re.IGNORECASE)
_LARGEST_ID: Final = 2**31 - 1


class Lookup:
    """Answers questions; every answer is read from the database, so it holds on every node right after a commit."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def _ask(self, question: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        def ask() -> T:
            with self._store.reading() as snapshot:
                return question(snapshot, *args, **kwargs)

        return await self._threads.run(ask)

    async def check(self) -> None:
        """Raise ``StoreError`` unless the database answers."""
        await self._threads.run(self._store.check)

    async def subjects(self, prefix: str, seen: Seen) -> list[str]:
        """List qualified names, sorted; the prefix ``:*:`` means every context."""
        context, name = _prefix(prefix)
        return sorted(map(str, await self._ask(Snapshot.subjects, seen, context=context, prefix=name)))

    async def contexts(self) -> list[str]:
        """List the contexts, the default one first."""
        return await self._ask(Snapshot.contexts)

    async def versions(self, subject: Subject, seen: Seen) -> list[tuple[int, bool]]:
        """List version numbers, each with whether it is soft-deleted.

        Raises:
            SubjectNotFound: there are none of this kind.
        """
        found = await self._ask(Snapshot.versions, subject, seen)
        if not found:
            raise SubjectNotFound(subject=str(subject))
        return found

    async def version(self, subject: Subject, number: int | None, seen: Seen = Seen.LIVE) -> RegisteredSchema:
        """Return one version; None is the newest live one, whatever else may be seen.

        Raises:
            SubjectNotFound, VersionNotFound: it is not there.
        """
        return await self._ask(_version, subject, number, seen)

    async def referenced_by(self, subject: Subject, number: int | None, seen: Seen) -> list[int]:
        """List the ids of schemas that lean on a version."""

        def question(snapshot: Snapshot) -> list[int]:
            held = _version(snapshot, subject, number, Seen.ALL)
            return snapshot.referenced_by(snapshot.state(subject).id or 0, held.version or 0, seen)

        return await self._ask(question)

    async def schema(self, schema_id: int, subject: Subject | None = None) -> RegisteredSchema:
        """Return a schema by id, shown under the given subject where it holds the id.

        Raises:
            SchemaNotFound: nobody holds the id in this context, or not any more.
        """
        context = subject.context if subject else DEFAULT_CONTEXT
        found = None
        if 0 < schema_id <= _LARGEST_ID:
            found = await self._ask(Snapshot.schema, context, schema_id, prefer=subject)
        if found is None:
            raise SchemaNotFound(schema=schema_id)
        return found

    async def max_id(self, subject: Subject | None = None) -> int:
        """Return the highest id of a context."""
        return await self._ask(Snapshot.max_id, subject.context if subject else DEFAULT_CONTEXT)

    async def holders(self, schema_id: int, subject: Subject | None, seen: Seen) -> list[Holder]:
        """List the versions that hold an id; of one subject, when its name is given.

        Raises:
            SchemaNotFound: nobody holds it, live or soft-deleted.
        """
        await self.schema(schema_id, subject)
        holders = await self._ask(Snapshot.holders, subject.context if subject else DEFAULT_CONTEXT, schema_id, seen)
        return [one for one in holders if subject is None or not subject.name or one.subject == subject]

    async def by_guid(self, text: str) -> RegisteredSchema:
        """Return a schema by guid, with or without hyphens.

        Raises:
            SchemaNotFound: nobody holds it.
        """
        guid = _guid(text)
        found = None if guid is None else await self._ask(Snapshot.by_guid, guid)
        if found is None:
            raise SchemaNotFound(schema=text)
        return found

    async def ids_of_guid(self, text: str) -> list[tuple[str, int]]:
        """List (context, id) of the schemas with a guid; none is no error."""
        guid = _guid(text)
        return [] if guid is None else await self._ask(Snapshot.ids_of_guid, guid)


def _version(snapshot: Snapshot, subject: Subject, number: int | None, seen: Seen) -> RegisteredSchema:
    seen = Seen.LIVE if number is None else seen
    found = snapshot.version(subject, number, seen)
    if found is not None:
        return found
    if not snapshot.versions(subject, seen):
        raise SubjectNotFound(subject=str(subject))
    raise VersionNotFound(version=number)


def _prefix(prefix: str) -> tuple[str | None, str]:
    """Split a prefix into context (None: every one) and start of the name."""
    if prefix.startswith(_EVERY_CONTEXT):
        return None, prefix.removeprefix(_EVERY_CONTEXT)
    subject = Subject.parse(prefix)
    return subject.context, subject.name


def _guid(text: str) -> str | None:
    match = _GUID.fullmatch(text)
    return "-".join(match.groups()).lower() if match else None
