"""A client that waits: one method per call, and a memory of ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from contractlog.clients import calls, own_calls
from contractlog.clients.cache import IdCache
from contractlog.clients.calls import Call, CompatibilityAnswer, SubjectLike, VersionLike
from contractlog.clients.conversation import Retries
from contractlog.clients.own_calls import Answered
from contractlog.clients.settings import DEFAULT_TIMEOUT, Security
from contractlog.clients.transport import ASGIApp, Transport
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.level import Level, Mode
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.contracts.observed.report import Part, TopicPart

__all__ = ["Registry"]

T = TypeVar("T")


class Registry:
    """A registry, spoken to over HTTP or in this process; may be shared by threads.

    Every failure is an exception of ``compatibility/errors.py``: those that the service raises, ``Unreachable`` when
    no answer came, ``UnreadableAnswer`` when it was none of a registry.

    Args:
        url: of the registry, credentials included where it asks for them; several are separated by commas.
        app: an ASGI application to speak to in this process, in place of a URL.
        timeout: seconds for a whole call, all attempts included.
        headers: sent with every request.
        retries: how often, and how patiently, lost calls are repeated.
        security: name and password, certificates, and whom to trust.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        app: ASGIApp | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        retries: Retries | None = None,
        security: Security | None = None,
    ) -> None:
        self._transport = Transport(url, app=app, timeout=timeout, headers=headers, retries=retries, security=security)
        self._by_id = IdCache()

    @property
    def url(self) -> str:
        """Where the registry answers, without credentials."""
        return self._transport.urls[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all connections."""
        self._transport.close()

    def send(self, call: Call[T]) -> T:
        """Send any call of ``calls.py`` and return what it reads."""
        return self._transport.send(call)

    def register(self, subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Register a schema under a subject, or return the version it already is.

        Raises:
            IncompatibleSchema: the level of the subject does not admit it.
            InvalidSchema: it is no schema.
            OperationNotPermitted: the mode of the subject forbids it.
        """
        return self.send(calls.register(subject, draft, normalize=normalize))

    def lookup(
        self, subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: it has, but none like this.
        """
        return self.send(calls.lookup(subject, draft, normalize=normalize, deleted=deleted))

    def schema_by_id(self, schema_id: int, *, subject: SubjectLike | None = None) -> RegisteredSchema:
        """Return the schema that an id stands for; asked once, known for ever.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        asked = None if subject is None else str(subject)
        known = self._by_id.get(asked, schema_id)
        if known is None:
            known = self.send(calls.by_id(schema_id, subject=subject))
            self._by_id.put(asked, known)
        return known

    def version(self, subject: SubjectLike, version: VersionLike, *, deleted: bool = False) -> RegisteredSchema:
        """Return one version of a subject, or its newest.

        Raises:
            SubjectNotFound: the subject has no versions.
            VersionNotFound: it has, but not this one.
        """
        return self.send(calls.version(subject, version, deleted=deleted))

    def versions(self, subject: SubjectLike, *, deleted: bool = False) -> list[int]:
        """Return the version numbers of a subject, ascending."""
        return self.send(calls.versions(subject, deleted=deleted))

    def subjects(self, *, prefix: str | None = None, deleted: bool = False) -> list[str]:
        """Return the names of all subjects, sorted."""
        return self.send(calls.subjects(prefix=prefix, deleted=deleted))

    def versions_of_id(self, schema_id: int, *, deleted: bool = False) -> list[tuple[str, int]]:
        """Return every (subject, version) that an id stands under."""
        return self.send(calls.versions_of_id(schema_id, deleted=deleted))

    def referenced_by(self, subject: SubjectLike, version: VersionLike) -> list[int]:
        """Return the ids of the schemas that lean on a version."""
        return self.send(calls.referenced_by(subject, version))

    def delete_subject(self, subject: SubjectLike, *, permanent: bool = False) -> list[int]:
        """Delete a subject, softly unless told otherwise; return the versions that went."""
        return self.send(calls.delete_subject(subject, permanent=permanent))

    def delete_version(self, subject: SubjectLike, version: VersionLike, *, permanent: bool = False) -> int:
        """Delete a version, softly unless told otherwise; return its number."""
        return self.send(calls.delete_version(subject, version, permanent=permanent))

    def check(
        self, subject: SubjectLike, draft: SchemaDraft, *, version: VersionLike | None = None, normalize: bool = False
    ) -> CompatibilityAnswer:
        """Ask whether a schema might follow one version, or all that the level of the subject selects."""
        return self.send(calls.check(subject, draft, number=version, normalize=normalize))

    def level(self, subject: SubjectLike | None = None, *, inherited: bool = True) -> Level:
        """Return the level of a subject, or of the registry.

        Raises:
            LevelNotConfigured: the subject has none of its own, and ``inherited`` is false.
        """
        return self.send(calls.level(subject, inherited=inherited))

    def set_level(self, level: Level | str, subject: SubjectLike | None = None) -> Level:
        """Set the level of a subject, or of the registry, and return it."""
        return self.send(calls.set_level(level, subject))

    def policy(self, subject: SubjectLike | None = None) -> Policy:
        """Return how differences between JSON schemas are held against a subject; STRICT where nothing is set."""
        return self.send(calls.policy(subject))

    def set_policy(self, policy: Policy, subject: SubjectLike | None = None) -> Policy:
        """Set how differences between JSON schemas are held against a subject, and return it."""
        return self.send(calls.set_policy(policy, subject))

    def delete_level(self, subject: SubjectLike | None = None) -> Level | None:
        """Let a subject inherit its level again; return the one that was in force, where the answer tells."""
        return self.send(calls.delete_level(subject))

    def mode(self, subject: SubjectLike | None = None) -> Mode:
        """Return what may be written to a subject, or to the registry."""
        return self.send(calls.mode(subject))

    def set_mode(self, mode: Mode | str, subject: SubjectLike | None = None) -> Mode:
        """Set what may be written to a subject, or to the registry, and return it."""
        return self.send(calls.set_mode(mode, subject))

    def types(self) -> list[str]:
        """Return the formats that the registry knows."""
        return self.send(calls.types())

    def contexts(self) -> list[str]:
        """Return the names of all contexts."""
        return self.send(calls.contexts())

    def referenced(self, draft: SchemaDraft, *, subject: SubjectLike | None = None) -> Mapping[str, str]:
        """Return the texts of all schemas that a draft leans on, by name, those that lean on nothing first."""
        walk = calls.referenced(draft, subject=subject)
        try:
            call = next(walk)
            while True:
                call = walk.send(self.send(call))
        except StopIteration as done:
            texts: Mapping[str, str] = done.value
            return texts

    def conformance(self, topic: str, *, part: Part | None = None) -> list[TopicPart]:
        """Return the newest audit of each part of a topic.

        Raises:
            ConformanceNotFound: nobody has published one.
        """
        return self.send(calls.conformance(topic, part=part))

    def publish_conformance(self, topic: str, entry: TopicPart) -> Mapping[str, Any]:
        """Record the audit of one part of a topic; return it with the time of its recording."""
        return self.send(calls.publish_conformance(topic, entry))

    def changes(self, since: int | Literal["latest"] = 0, *, limit: int | None = None, wait: float = 0) -> Answered:
        """Return the journal after a number; ``wait`` seconds for the first change where there is none yet.

        Raises:
            ChangesAhead: the journal does not reach so far; the database may have been restored.
        """
        return self.send(own_calls.changes(since, limit=limit, wait=wait))

    def search(
        self,
        *,
        field: str | None = None,
        type: str | None = None,  # noqa: A002 - as it is sent
        tag: str | None = None,
        property: str | None = None,  # noqa: A002 - as it is sent
        prefix: bool = False,
        after: str | None = None,
        limit: int | None = None,
    ) -> Answered:
        """Return a page of where these words are found in the latest live versions."""
        return self.send(
            own_calls.search(
                field=field, type=type, tag=tag, property=property, prefix=prefix, after=after, limit=limit
            )
        )

    def difference(
        self,
        earlier: tuple[SubjectLike, VersionLike],
        later: tuple[SubjectLike, VersionLike] | SchemaDraft,
        *,
        level: Level | None = None,
        policy: Policy | None = None,
    ) -> Answered:
        """Return what one version, or a draft for the same subject, changes of another."""
        return self.send(own_calls.difference(earlier, later, level=level, policy=policy))

    def graph(
        self,
        subject: SubjectLike,
        *,
        version: VersionLike | None = None,
        direction: Literal["both", "references", "referencedby"] = "both",
        depth: int | None = None,
    ) -> Answered:
        """Return what a subject leans on and what leans on it, directly or not."""
        return self.send(own_calls.graph(subject, version=version, direction=direction, depth=depth))

    def lookup_many(
        self, schemas: Iterable[tuple[SubjectLike, SchemaDraft]], *, normalize: bool = False, deleted: bool = False
    ) -> list[RegisteredSchema | RegistryError]:
        """Return for each schema the version that holds it, or the error why there is none; at most 500 at once."""
        return self.send(own_calls.lookup_many(schemas, normalize=normalize, deleted=deleted))

    def check_many(
        self, schemas: Iterable[tuple[SubjectLike, SchemaDraft]]
    ) -> list[CompatibilityAnswer | RegistryError]:
        """Judge each schema as if the compatible ones before it were registered; at most 500 at once."""
        return self.send(own_calls.check_many(schemas))

    def fetches(
        self,
        schema_id: int | None = None,
        *,
        subject: SubjectLike | None = None,
        days: int | None = None,
        limit: int | None = None,
    ) -> list[Answered]:
        """Return which clients fetched an id, or what the versions of a subject hold, and on which day."""
        return self.send(own_calls.fetches(schema_id, subject=subject, days=days, limit=limit))
