"""Request and response bodies of usage, as in ``openapi.yaml``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Self

from msgspec import Struct

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.features.subject_usage.service import ClientUse, SubjectUsage, TopicUse, VersionRecords

__all__ = ["UsageBody", "UsageRequest", "UsagesBody"]

_DAY: Final = 86_400


class UsageRequest(Struct):
    """Subjects whose usage is requested."""

    subjects: list[str]


class ClientUseBody(Struct):
    """A client that fetched a version."""

    client: str
    version: int
    id: int
    count: int
    last_day: str  #: such as 2026-11-21, UTC

    @classmethod
    def of(cls, use: ClientUse) -> Self:
        """Build the body."""
        last_day = datetime.fromtimestamp(use.last_day * _DAY, UTC).date().isoformat()
        return cls(use.client, use.version, use.schema_id, use.count, last_day)


class VersionRecordsBody(Struct):
    """Records with one schema id."""

    id: int
    subject: str | None  #: null if the registry does not have the id, or the caller may not read the subject
    version: int | None
    records: int
    expected: bool  #: whether the topic's subject name strategy allows the subject

    @classmethod
    def of(cls, use: VersionRecords) -> Self:
        """Build the body."""
        return cls(use.schema_id, use.subject, use.version, use.records, use.expected)


class TopicUseBody(Struct):
    """Records of one part of a topic, by its newest audit."""

    topic: str
    part: str
    recorded_at: int  #: milliseconds since 1970, UTC
    records: int
    versions: list[VersionRecordsBody]  #: those with most records first

    @classmethod
    def of(cls, use: TopicUse) -> Self:
        """Build the body."""
        return cls(
            use.topic, use.part, use.recorded_at, use.records, [VersionRecordsBody.of(each) for each in use.versions]
        )


class UsageBody(Struct, omit_defaults=True):
    """Usage of a subject, or an error."""

    subject: str | None = None
    clients: list[ClientUseBody] | None = None  #: the latest first; absent without read permission on every subject
    client_count: int | None = None  #: of all clients, listed or not
    topics: list[TopicUseBody] | None = None
    error_code: int | None = None
    message: str | None = None

    @classmethod
    def of(cls, usage: SubjectUsage | RegistryError) -> Self:
        """Build one result."""
        if isinstance(usage, RegistryError):
            return cls(error_code=usage.error_code, message=usage.message)
        clients = None if usage.clients is None else [ClientUseBody.of(each) for each in usage.clients]
        topics = [TopicUseBody.of(each) for each in usage.topics]
        return cls(str(usage.subject), clients, usage.client_count, topics)


class UsagesBody(Struct):
    """One result for each subject, in the order of the request."""

    results: list[UsageBody]
