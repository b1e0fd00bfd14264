"""Requests that wait share a check of the database, which always begins after they arrived."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from contractlog.compatibility.errors import StoreError
from contractlog.registry.database import open_store
from contractlog.registry.http.fastpath.change_checks import SharedDatabaseChecks
from contractlog.registry.http.fastpath.response_memory import ResponseMemory
from contractlog.registry.settings import Settings
from contractlog.registry.storage.new_changes import NewChanges
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

pytestmark = pytest.mark.integration


@pytest.fixture
def store(upgraded_postgres_url: str) -> Iterator[Store]:
    opened = open_store(Settings(database_url=upgraded_postgres_url))
    yield opened
    opened.close()


class CountingStore:
    """Passes statements on to a store, and counts them; ``before`` runs before each."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.statements = 0

    def before(self) -> None:
        """Do nothing."""

    def read_new_changes(self, since: int | None) -> NewChanges:
        self.statements += 1
        self.before()
        return self._store.read_new_changes(since)


def record(store: Store, action: str, target: str) -> None:
    def change(transaction: Transaction) -> None:
        transaction.record_change(action, target)

    store.transact(change).result(60)


def test_requests_that_wait_share_a_check(store: Store) -> None:
    counting = CountingStore(store)

    async def ask() -> list[int | None]:
        checks = SharedDatabaseChecks(ResponseMemory(1_000), counting)  # type: ignore[arg-type]
        revisions = [await asyncio.gather(*(checks.check() for _ in range(200))) for _ in range(2)]
        checks.close()
        return [revision for each in revisions for revision in each]

    revisions = asyncio.run(ask())
    assert None not in revisions
    assert counting.statements == 2


def test_a_request_that_arrives_during_a_check_waits_for_the_next_one(store: Store) -> None:
    """The first statement is held up; what is committed meanwhile is seen by the request that arrives then."""
    counting = CountingStore(store)
    begun, released = threading.Event(), threading.Event()

    async def ask() -> None:
        memory = ResponseMemory(1_000)
        checks = SharedDatabaseChecks(memory, counting)  # type: ignore[arg-type]
        await checks.check()
        before = memory.revision

        def hold_up() -> None:
            begun.set()
            assert released.wait(60)

        counting.before = hold_up  # type: ignore[method-assign]
        first = asyncio.ensure_future(checks.check())
        await asyncio.to_thread(begun.wait, 60)
        second = asyncio.ensure_future(checks.check())
        await asyncio.sleep(0)
        released.set()
        await first
        assert not second.done()
        assert await second is not None
        assert memory.revision == before
        checks.close()

    asyncio.run(ask())
    assert counting.statements == 3


def test_a_check_invalidates_the_subjects_that_changed_and_anything_if_settings_did(store: Store) -> None:
    a, b = "a", "b"

    async def ask() -> None:
        memory = ResponseMemory(1_000)
        checks = SharedDatabaseChecks(memory, store)
        await checks.check()
        for action, target, invalid in (
            ("version.registered", "a/1", {a}),
            ("version.soft_deleted", "b/1", {b}),
            ("version.hard_deleted", "b/1", {a, b}),
            ("settings.changed", "b", {a, b}),
            ("an action of a later release", "b/1", {a, b}),
        ):
            revision = await checks.check()
            await asyncio.to_thread(record, store, action, target)
            await checks.check()
            assert revision is not None
            valid = {name for name in (a, b) if revision >= max(memory._changed.get(name, 0), memory._forgotten)}
            assert {a, b} - valid == invalid, action
        checks.close()

    asyncio.run(ask())


def test_many_changes_between_two_checks_invalidate_everything(store: Store) -> None:
    def change(transaction: Transaction) -> None:
        for number in range(1_001):
            transaction.record_change("version.registered", f"s{number}/1")

    newest = store.read_new_changes(None).newest
    store.transact(change).result(60)
    assert store.read_new_changes(newest) == NewChanges(newest + 1_001, None)
    assert store.read_new_changes(newest + 1_001) == NewChanges(newest + 1_001)


def test_a_database_that_lost_its_last_changes_invalidates_everything(store: Store) -> None:
    newest = store.read_new_changes(None).newest
    assert store.read_new_changes(newest + 1) == NewChanges(newest, None)


def test_a_check_that_fails_keeps_memory_from_being_used(store: Store) -> None:
    counting = CountingStore(store)

    async def ask() -> None:
        checks = SharedDatabaseChecks(ResponseMemory(1_000), counting)  # type: ignore[arg-type]
        assert await checks.check() is not None

        def fail() -> None:
            raise StoreError(detail="the database is unavailable")

        counting.before = fail  # type: ignore[method-assign]
        assert await checks.check() is None
        del counting.before
        assert await checks.check() is not None
        checks.close()
        assert await checks.check() is None

    asyncio.run(ask())


def test_at_most_one_check_per_millisecond_reaches_the_database(store: Store) -> None:
    counting = CountingStore(store)

    async def ask() -> float:
        checks = SharedDatabaseChecks(ResponseMemory(1_000), counting)  # type: ignore[arg-type]
        began = time.monotonic()
        for _ in range(50):
            await checks.check()
        seconds = time.monotonic() - began
        checks.close()
        return seconds

    assert asyncio.run(ask()) >= 0.045  # 49 intervals, as the timers of the event loop may end a little early
    assert counting.statements == 50
