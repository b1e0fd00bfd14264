"""Extensions of contractlog: audits, the journal, search, differences, graphs and batch requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from contractlog.clients import calls
from contractlog.clients.calls import CompatibilityAnswer, ResponseBody, SubjectLike, VersionLike, extensions
from contractlog.clients.endpoints.sender import Sender
from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.level import Level
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.contracts.audit.report import Part, TopicPart

__all__ = ["ExtensionEndpoints"]


class ExtensionEndpoints(Sender):
    """Client methods for the endpoints under ``/contractlog/v1``."""

    def conformance(self, topic: str, *, part: Part | None = None) -> list[TopicPart]:
        """Return the newest audit of each part of a topic.

        Raises:
            ConformanceNotFound: no audit was published.
        """
        return self.send(calls.conformance(topic, part=part))

    def publish_conformance(self, topic: str, entry: TopicPart) -> Mapping[str, Any]:
        """Record the audit of one part of a topic; return it with the time of its recording."""
        return self.send(calls.publish_conformance(topic, entry))

    def changes(self, since: int | Literal["latest"] = 0, *, limit: int | None = None, wait: float = 0) -> ResponseBody:
        """Return the changes after number ``since``; wait up to ``wait`` seconds if there are none yet.

        Raises:
            ChangesAhead: ``since`` is after the end of the journal; the database may have been restored.
        """
        return self.send(extensions.changes(since, limit=limit, wait=wait))

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
    ) -> ResponseBody:
        """Return a page of matches of these terms in the latest live versions."""
        return self.send(
            extensions.search(
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
    ) -> ResponseBody:
        """Return the changes from one version to another, or to a draft for the same subject."""
        return self.send(extensions.difference(earlier, later, level=level, policy=policy))

    def graph(
        self,
        subject: SubjectLike,
        *,
        version: VersionLike | None = None,
        direction: Literal["both", "references", "referencedby"] = "both",
        depth: int | None = None,
    ) -> ResponseBody:
        """Return the direct and indirect dependencies and dependents of a subject."""
        return self.send(extensions.graph(subject, version=version, direction=direction, depth=depth))

    def permissions(self, subject: SubjectLike) -> ResponseBody:
        """Return whether the caller may read and write a subject."""
        return self.send(extensions.permissions(subject))

    def lookup_many(
        self, schemas: Iterable[tuple[SubjectLike, SchemaDraft]], *, normalize: bool = False, deleted: bool = False
    ) -> list[RegisteredSchema | RegistryError]:
        """Return for each schema the version with its content, or an error; at most 500 per call."""
        return self.send(extensions.lookup_many(schemas, normalize=normalize, deleted=deleted))

    def check_many(
        self, schemas: Iterable[tuple[SubjectLike, SchemaDraft]]
    ) -> list[CompatibilityAnswer | RegistryError]:
        """Check each schema as if the compatible ones before it were registered; at most 500 per call."""
        return self.send(extensions.check_many(schemas))

    def fetches(
        self,
        schema_id: int | None = None,
        *,
        subject: SubjectLike | None = None,
        days: int | None = None,
        limit: int | None = None,
    ) -> list[ResponseBody]:
        """Return which clients fetched an id, or the schemas of a subject's versions, and on which day."""
        return self.send(extensions.fetches(schema_id, subject=subject, days=days, limit=limit))

    def each_change(self, since: int = 0, *, page: int = 500) -> Iterator[ResponseBody]:
        """Iterate over the changes after number ``since``, to the current end of the journal."""
        while True:
            result = self.changes(since, limit=page)
            yield from result["changes"]
            if not result["changes"]:
                return
            since = result["next"]

    def each_hit(
        self,
        *,
        field: str | None = None,
        type: str | None = None,  # noqa: A002 - as it is sent
        tag: str | None = None,
        property: str | None = None,  # noqa: A002 - as it is sent
        prefix: bool = False,
    ) -> Iterator[ResponseBody]:
        """Iterate over all matches of these terms in the latest live versions."""
        after: str | None = None
        while True:
            result = self.search(field=field, type=type, tag=tag, property=property, prefix=prefix, after=after)
            yield from result["hits"]
            after = result.get("next")
            if after is None:
                return
