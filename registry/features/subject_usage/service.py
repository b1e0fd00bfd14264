"""Usage of subjects, as far as the caller may know it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec

from contractlog.compatibility.errors import Denied, Overloaded, RegistryError, ServerError, TooManyRequests
from contractlog.compatibility.identifiers import MAX_ID, MAX_VERSION, Subject
from contractlog.registry.access.current_caller import may_read, may_read_everything
from contractlog.registry.access.permissions import Permission, topic_permission_subject
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.conformance.queries import list_newest
from contractlog.registry.features.fetch_counts.service import FetchService
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.features.subject_usage import queries
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["ClientUse", "SubjectUsage", "TopicUse", "UsageService", "VersionRecords"]

_Id = Annotated[int, msgspec.Meta(ge=0, le=MAX_ID)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_VersionNumber = Annotated[int, msgspec.Meta(ge=1, le=MAX_VERSION)]
_MAX_TOTALS: Final = 10_000  #: pairs of a schema and a client that are considered per subject
_MAX_CLIENTS: Final = 100  #: listed per subject
_MAX_VERSIONS: Final = 100  #: listed per topic


@dataclass(frozen=True, slots=True)
class ClientUse:
    """Fetches of a version by a client."""

    client: str
    version: int
    schema_id: int
    count: int
    last_day: int  #: days since 1970-01-01, UTC


class VersionRecords(msgspec.Struct, frozen=True):
    """Records of a topic with one schema id, as audits write it (``SchemaUse``)."""

    schema_id: _Id
    records: _Count
    subject: str | None = None  #: None if the registry does not have the id, or the caller may not read the subject
    version: _VersionNumber | None = None
    expected: bool = True  #: whether the topic's strategy allows the subject


@dataclass(frozen=True, slots=True)
class TopicUse:
    """Records of one part of a topic, by the newest audit."""

    topic: str
    part: str
    recorded_at: int  #: milliseconds since 1970, UTC
    records: int
    versions: tuple[VersionRecords, ...]  #: most records first


@dataclass(frozen=True, slots=True)
class SubjectUsage:
    """Usage of a subject."""

    subject: Subject
    clients: tuple[ClientUse, ...] | None  #: the latest first; None if the caller may not know them
    client_count: int | None  #: of all clients, listed or not
    topics: tuple[TopicUse, ...]


class _Entry(msgspec.Struct):
    part: str
    records: int
    schemas: list[Any]


class UsageService(ReadService):
    """Reads fetch counts and audit results of subjects."""

    def __init__(self, store: Store, threads: ThreadPools, fetches: FetchService) -> None:
        super().__init__(store, threads)
        self._fetches = fetches

    async def list_usage(
        self, subjects: Sequence[Callable[[], Subject]], *, days: int
    ) -> list[SubjectUsage | RegistryError]:
        """Return the usage of each subject, or an error; one by one, so that other requests get their turn.

        A subject that occurs several times is read once.
        """
        results: list[SubjectUsage | RegistryError] = []
        usage_by_subject: dict[Subject, SubjectUsage] = {}
        for parse in subjects:
            try:
                subject = parse()
                if subject not in usage_by_subject:
                    usage_by_subject[subject] = await self._find_usage(subject, days)
                results.append(usage_by_subject[subject])
            except (ServerError, Overloaded, TooManyRequests):
                raise
            except RegistryError as error:
                results.append(error)
        return results

    async def _find_usage(self, subject: Subject, days: int) -> SubjectUsage:
        subject.validate()
        if not may_read(subject):
            raise Denied(operation=Permission.READ.value, subject=str(subject))
        return await self._query(self._read, subject, days)

    def _read(self, snapshot: Snapshot, subject: Subject, days: int) -> SubjectUsage:
        clients, client_count = None, None
        if may_read_everything():  # an id, and so its fetches, may belong to other subjects, too
            uses = self._find_clients(snapshot, subject, days)
            clients, client_count = tuple(uses[:_MAX_CLIENTS]), len({use.client for use in uses})
        topics = tuple(
            topic
            for name, part in queries.list_topics(snapshot, subject)
            if may_read(topic_permission_subject(name))
            for topic in _read_audits(snapshot, name, part)
        )
        return SubjectUsage(subject, clients, client_count, topics)

    def _find_clients(self, snapshot: Snapshot, subject: Subject, days: int) -> list[ClientUse]:
        versions = queries.find_versions(snapshot, subject)
        totals = self._fetches.sum_by_client(snapshot, set(versions), days=days, limit=_MAX_TOTALS) if versions else {}
        uses = (
            ClientUse(client, versions[context, schema_id], schema_id, total.count, total.last_day)
            for (context, schema_id, client), total in totals.items()
        )
        return sorted(uses, key=lambda use: (-use.last_day, use.client, -use.version))


def _read_audits(snapshot: Snapshot, topic: str, part: str) -> list[TopicUse]:
    """Return the newest audit of a part; none if there is none, or it has no counts by schema."""
    audits = []
    for recorded in list_newest(snapshot, topic):
        try:
            entry = msgspec.json.decode(recorded.entry, type=_Entry)
        except msgspec.ValidationError:
            continue
        if entry.part == part:
            versions = sorted(_parse_versions(entry.schemas), key=lambda use: (-use.records, use.schema_id))
            audits.append(TopicUse(topic, part, recorded.recorded_at, entry.records, tuple(versions[:_MAX_VERSIONS])))
    return audits


def _parse_versions(schemas: Sequence[Any]) -> list[VersionRecords]:
    """Return what has records, without malformed entries: details are stored unverified."""
    uses = []
    for schema in schemas:
        try:
            use = msgspec.convert(schema, VersionRecords)
        except msgspec.ValidationError:
            continue
        readable = use.subject is not None and may_read(Subject.parse(use.subject))
        uses.append(use if readable else msgspec.structs.replace(use, subject=None, version=None))
    return uses
