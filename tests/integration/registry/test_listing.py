"""Long lists are limited by the database, equal on each, and do not delay other requests."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from collections.abc import Iterable

import pytest
from sqlalchemy import insert, update

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.access.permissions import ALL_PERMISSIONS
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.schemas.queries import ListedSchema, SchemaFilter
from contractlog.registry.features.schemas.renderer import ViewRenderer
from contractlog.registry.features.schemas.service import SchemaService
from contractlog.registry.features.subjects.service import SubjectService
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.storage import tables
from contractlog.registry.storage.name_and_id_lookup import find_by_id
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import DeletedFilter, Page, subject_key
from contractlog.registry.storage.transaction import Transaction

from support.deadlines import count_calls

COUNT = 20_000
RULES = json.dumps({"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}]})


def fill(transaction: Transaction, names: list[str]) -> None:
    """Let subjects of these names hold one schema."""
    execute = transaction.connection.execute
    execute(
        insert(tables.schemas),
        {
            "context": ".",
            "id": 1,
            "hash": "h",
            "normalized_hash": "h",
            "guid": "095d71cf-1255-6b9d-5e33-0ad575b3df5d",
            "type": "AVRO",
            "text": '"string"',
            "created_at": 1,
        },
    )
    subjects = [
        {"id": number, "key": subject_key(Subject(".", name)), "context": ".", "name": name, "revision": 1}
        for number, name in enumerate(names, 1)
    ]
    execute(insert(tables.subjects), subjects)
    held = {"version": 1, "context": ".", "schema_id": 1, "created_at": 1}
    execute(insert(tables.versions), [{"subject_id": one["id"], **held} for one in subjects])


@pytest.fixture
def subjects(store: Store) -> SubjectService:
    return SubjectService(store, ThreadPools(4, max_waiting=100))


def test_names_are_sorted_by_their_bytes_on_every_database(store: Store, subjects: SubjectService) -> None:
    names = ["b", "a", "B", "A", "_", "-", "é", "z", "ä", "10", "2", "a-b", "a_b", "ab", "\U0001f600", "￿"]
    store.transact(lambda transaction: fill(transaction, names)).result()
    ordered = sorted(names)

    async def ask() -> None:
        assert await subjects.list_subjects(":*:", DeletedFilter.EXCLUDED) == ordered
        pages = [
            await subjects.list_subjects("", DeletedFilter.EXCLUDED, Page(offset, 5)) for offset in range(0, 20, 5)
        ]
        assert [name for page in pages for name in page] == ordered
        schemas = SchemaService(store, ThreadPools(4, max_waiting=100), ViewRenderer(SchemaParser()))

        def encode(listed: Iterable[ListedSchema]) -> bytes:
            return json.dumps([str(one.schema.subject) for one in listed]).encode()

        body = await schemas.list_schemas(SchemaFilter(), Page(3, 4), encode)
        assert isinstance(body, bytes)
        assert json.loads(body) == ordered[3:7]
        store.transact(lambda change: change.connection.execute(update(tables.schemas).values(rule_set=RULES))).result()
        for rule_type, expected in (("CEL", ordered[3:7]), ("OTHER", [])):
            assert await schemas.list_schemas(SchemaFilter(rule_type=rule_type), Page(3, 4), encode) == (
                json.dumps(expected).encode()
            )

    asyncio.run(ask())


@pytest.mark.slow
def test_listing_20_000_subjects_is_no_work_for_the_event_loop(store: Store, subjects: SubjectService) -> None:
    names = [f"orders-{number:05}-value" for number in range(COUNT)]
    store.transact(lambda transaction: fill(transaction, names)).result()

    async def ask() -> None:
        assert await subjects.list_subjects(":*:", DeletedFilter.EXCLUDED) == names
        assert await subjects.list_subjects(":*:", DeletedFilter.EXCLUDED, Page(19_999, 5)) == names[-1:]

    assert count_calls(lambda: asyncio.run(ask())) < COUNT / 4  # of the thread of the loop


@pytest.mark.slow
def test_an_id_with_20_000_holders_is_found_without_reading_them(store: Store) -> None:
    names = [f"s{number}" for number in range(COUNT)]
    store.transact(lambda transaction: fill(transaction, names)).result()
    with store.open_snapshot() as snapshot:
        find_by_id(snapshot, 1, None, ALL_PERMISSIONS)  # prepares the statement
        tracemalloc.start()
        try:
            found = find_by_id(snapshot, 1, None, ALL_PERMISSIONS)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert found is not None
    assert str(found.subject) == "s0"
    assert peak < COUNT * 50
