"""Lookups and checks of many schemas in one request, run one by one to give other requests a turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, TypeVar

from contractlog.compatibility.errors import Overloaded, RegistryError, ServerError, TooManyMembers, TooManyRequests
from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.compatibility.service import CheckResult, CompatibilityService
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.registration.service import RegistrationService
from contractlog.registry.storage.expected_snapshot import ExpectedSnapshot
from contractlog.registry.storage.name_and_id_lookup import follow_alias
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["MAX_MEMBERS", "BatchMember", "BatchService", "check_member_count"]

MAX_MEMBERS: Final = 500

T = TypeVar("T")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class BatchMember:
    """A member of the request: a schema and its subject."""

    subject: Subject
    draft: SchemaDraft
    normalize: bool = False
    deleted: bool = False
    version: int | str | None = None  #: to be checked against; None means those that the level selects


class BatchService(ReadService):
    """Looks up and checks many schemas; results are in the order of the request."""

    def __init__(
        self, store: Store, threads: ThreadPools, registration: RegistrationService, compatibility: CompatibilityService
    ) -> None:
        super().__init__(store, threads)
        self._registration = registration
        self._compatibility = compatibility
        self._numbers = count(-1, -1)  # negative ids for schemas without one, because parsed schemas are cached by id

    async def lookup(self, members: Sequence[Callable[[], BatchMember]]) -> list[RegisteredSchema | RegistryError]:
        """Return for each content its version without the content, or the error."""

        async def look_up_one(member: Callable[[], BatchMember]) -> RegisteredSchema:
            parsed = await self._threads.run(member)
            schema = await self._registration.lookup(
                parsed.subject, parsed.draft, normalize=parsed.normalize, deleted=parsed.deleted
            )
            # A short text may have metadata of a megabyte, and all members are in memory at the same time.
            return replace(schema, text="", metadata=None, rule_set=None)

        return await _process_each(members, look_up_one)

    async def run(self, work: Callable[[], T]) -> T:
        """Run the rest of the work for a response off the event loop."""
        return await self._threads.run(work)

    async def check(
        self, members: Sequence[Callable[[], BatchMember]]
    ) -> list[tuple[BatchMember, CheckResult] | RegistryError]:
        """Check each schema as if the compatible ones before it were registered; it may reference those."""
        expected: dict[Subject, list[RegisteredSchema]] = {}

        async def check_one(member: Callable[[], BatchMember]) -> tuple[BatchMember, CheckResult]:
            parsed = await self._threads.run(member)
            return parsed, await self._query_schemas(parsed.draft.text, self._check, parsed, expected)

        return await _process_each(members, check_one)

    def _check(
        self, current: Snapshot, member: BatchMember, expected: dict[Subject, list[RegisteredSchema]]
    ) -> CheckResult:
        snapshot = ExpectedSnapshot(current, expected)
        draft = self._compatibility.complete_draft(snapshot, member.subject, member.draft)
        result = self._compatibility.check_on_snapshot(snapshot, member.subject, draft, member.version)
        if result.compatible:
            subject = follow_alias(snapshot, member.subject)
            expected.setdefault(subject, []).append(self._build_next_version(snapshot, subject, draft))
        return result

    def _build_next_version(self, snapshot: Snapshot, subject: Subject, draft: SchemaDraft) -> RegisteredSchema:
        return RegisteredSchema(
            SchemaId(next(self._numbers)),
            draft.text,
            draft.type,
            subject,
            Version(snapshot.highest(subject) + 1),
            references=draft.references,
            metadata=draft.metadata,
            rule_set=draft.rule_set,
        )


def check_member_count(members: Sequence[T]) -> Sequence[T]:
    """Return the members of a request.

    Raises:
        TooManyMembers: there are more than a request may have.
    """
    if len(members) > MAX_MEMBERS:
        raise TooManyMembers(count=len(members), maximum=MAX_MEMBERS)
    return members


async def _process_each(members: Sequence[M], process: Callable[[M], Awaitable[T]]) -> list[T | RegistryError]:
    """Answer members one by one, so that other requests get their turn; errors of the server end it."""
    results: list[T | RegistryError] = []
    for member in members:
        try:
            results.append(await process(member))
        except (ServerError, Overloaded, TooManyRequests):
            raise
        except RegistryError as error:
            results.append(error)
    return results
