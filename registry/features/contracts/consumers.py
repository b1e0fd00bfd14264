"""Consumers of a contract: clients that fetch its schemas, records with them, and downstream data."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.access.current_caller import may_read
from contractlog.registry.access.permissions import topic_permission_subject
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.change_requests.reach import ReachFinder
from contractlog.registry.features.contracts import queries
from contractlog.registry.features.contracts.bodies import ConsumersBody, ConsumerUseBody, RecordUseBody
from contractlog.registry.features.contracts.schema_match import PARTS
from contractlog.registry.features.contracts.service import is_topic, not_found_error
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.features.subject_usage.service import SubjectUsage, UsageService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["ConsumerFinder"]

_DAYS: Final = 30
_DAY: Final = 86_400


class ConsumerFinder(ReadService):
    """Finds the consumers of contracts, as far as the caller may know them."""

    def __init__(self, store: Store, threads: ThreadPools, usage: UsageService, reach: ReachFinder) -> None:
        super().__init__(store, threads)
        self._usage = usage
        self._reach = reach

    async def find(self, topic: str) -> ConsumersBody:
        """Return the consumers within 30 days, with the version of the contract that describes what they use.

        Raises:
            ContractNotFound: the topic has no contract.
        """
        described = await self._query(_read_described, topic) if is_topic(topic) else {}
        newest = max(described.values(), default=None)
        if newest is None:
            raise not_found_error(topic)
        body = ConsumersBody(topic, newest, None, [], [])
        for part in PARTS:
            subject = topic_permission_subject(topic, part)
            if may_read(subject):
                (usage,) = await self._usage.list_usage([lambda subject=subject: subject], days=_DAYS)  # type: ignore[misc]
                if not isinstance(usage, RegistryError):
                    _add_usage(body, part, usage, described)
        body.downstream = (await self._reach.find(topic_permission_subject(topic))).downstream
        return body


def _read_described(snapshot: Snapshot, topic: str) -> dict[tuple[str, int | None], int]:
    """Return the newest version of a contract that describes each version of a part's subject."""
    described: dict[tuple[str, int | None], int] = {}
    for version, value_version, key_version in queries.list_described_versions(snapshot, topic):
        described |= {("value", value_version): version, ("key", key_version): version}
    return described


def _add_usage(
    body: ConsumersBody, part: str, usage: SubjectUsage, described: dict[tuple[str, int | None], int]
) -> None:
    if usage.clients is not None:
        body.clients = body.clients or []
    for use in usage.clients or ():
        last_day = datetime.fromtimestamp(use.last_day * _DAY, UTC).date().isoformat()
        version = described.get((part, use.version))
        body.clients = [*(body.clients or []), ConsumerUseBody(use.client, part, use.version, version, last_day)]
    for topic in usage.topics:
        if (topic.topic, topic.part) == (body.topic, part):
            body.records += [
                RecordUseBody(part, each.version, described.get((part, each.version)), each.records)
                for each in topic.versions
                if each.version is not None and each.subject == str(usage.subject)
            ]
