"""Data prefetched for a batch of registrations equals the data read by each, on every database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.compatibility.content_identity import compute_guid, hash_content
from contractlog.compatibility.errors import IncompatibleSchema
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.registry.app import create_app
from contractlog.registry.settings import Settings
from contractlog.registry.storage.prefetch import NotPrefetched, PrefetchedSnapshot, prefetch_subjects
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import (
    Content,
    DeletedFilter,
    PendingAppend,
    ReferenceTarget,
    ScopeSettings,
    scope_chain,
)

from support.registry import EACH_DATABASE, create_database

NAMES = ("none", "one", "many", "deleted", "newest-deleted", "leaning", "set", ":.eu:one", "long")
SUBJECTS = tuple(map(Subject.parse, NAMES))
HASHES = tuple(map(hash_content, ("0", "1", "2", "3", "never")))


@pytest.fixture(params=EACH_DATABASE)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return create_database(request, tmp_path)


def put(store: Store, name: str, text: str, **members: Any) -> None:
    subject, digest = Subject.parse(name), hash_content(text)
    content = replace(
        Content(text, text, SchemaType.AVRO, digest, hash_content(text + "n"), compute_guid(text)), **members
    )
    with store.open_snapshot() as snapshot:
        configured = ScopeSettings.merge(snapshot.read_settings(scope_chain(subject)).values())
        one = PendingAppend(subject, content, snapshot.state(subject), configured)
    assert isinstance(store.append(one).result(30), RegisteredSchema)


def filled(store: Store) -> None:
    """Make a subject of each kind."""
    for name, number in (("one", 1), ("many", 4), ("deleted", 2), ("newest-deleted", 3), ("set", 1), (":.eu:one", 2)):
        for text in range(number):
            put(store, name, str(text))
    for number in range(51):
        put(store, "long", f"long {number}")
    with store.open_snapshot() as snapshot:
        leant = ReferenceTarget(snapshot.state(Subject.parse("one")).id or 0, 1, 1)
    put(store, "leaning", "0", references=(Reference("one", "one", 1),), targets=(leant,))

    def change(transaction: Any) -> None:
        for name, numbers in (("deleted", (1, 2)), ("newest-deleted", (3,))):
            subject = Subject.parse(name)
            transaction.soft_delete(subject, transaction.state(subject).id, numbers)
        transaction.configure(Subject.parse("set"), ScopeSettings(level=Level.FULL, normalize=True))
        transaction.configure(Subject.parse(":.eu:"), ScopeSettings(level=Level.NONE))

    store.transact(change).result(30)


QUESTIONS: tuple[Callable[[Snapshot, Subject], Any], ...] = (
    lambda state, subject: state.read_settings(scope_chain(subject)),
    lambda state, subject: state.state(subject),
    lambda state, subject: state.highest(subject),
    lambda state, subject: state.version(subject, None),
    lambda state, subject: state.newest_verbatim_type(subject),
)
MORE: tuple[Callable[[Snapshot, Subject], Any], ...] = (
    *((lambda state, subject, one=one: state.list_by_content(subject, one)) for one in HASHES),
    *((lambda state, subject, one=one: state.list_equivalent(subject, one)) for one in map(hash_content, ("0n", "2n"))),
    lambda state, subject: state.dependent_versions(subject, DeletedFilter.EXCLUDED, dependent=True),
    lambda state, subject: state.dependent_versions(subject, DeletedFilter.EXCLUDED, dependent=False),
    lambda state, subject: state.list_by_content(subject, HASHES[0], DeletedFilter.INCLUDED),
    lambda state, subject: state.version(subject, 1),
    lambda state, subject: state.version(subject, None, DeletedFilter.INCLUDED),
    lambda state, subject: state.history(subject),
    lambda state, _subject: state.state(Subject.parse("another")),
)


def test_prefetched_data_equals_the_database_or_is_absent(store: Store) -> None:
    filled(store)
    with store.open_snapshot() as snapshot:
        found = prefetch_subjects(snapshot, SUBJECTS)
        assert set(found) == {*SUBJECTS} - {Subject.parse("long")}
        for subject, foreseen in found.items():
            for ask in QUESTIONS:
                assert ask(foreseen, subject) == ask(snapshot, subject)
            told = sum(_agrees(ask, foreseen, snapshot, subject) for ask in MORE)
            assert told >= (1 if subject.name == "leaning" else 2), subject


def _agrees(
    ask: Callable[[Snapshot, Subject], Any], foreseen: PrefetchedSnapshot, snapshot: Snapshot, subject: Subject
) -> bool:
    try:
        answer = ask(foreseen, subject)
    except NotPrefetched:
        return False
    assert answer == ask(snapshot, subject)
    return True


def test_a_store_reads_ahead_for_all_who_wait_and_sees_what_was_written_before(store: Store) -> None:
    filled(store)
    found = [store.prefetch(subject) for subject in SUBJECTS * 8]
    for subject, promise in zip(SUBJECTS * 8, found, strict=True):
        foreseen = promise.result(30)
        if subject.name == "long":
            assert foreseen is None
        else:
            assert foreseen is not None
            with store.open_snapshot() as snapshot:
                assert foreseen.state(subject) == snapshot.state(subject)
    put(store, "none", "first")
    foreseen = store.prefetch(Subject.parse("none")).result(30)
    assert foreseen is not None
    assert foreseen.highest(Subject.parse("none")) == 1


def record(*fields: str, kind: str = "int") -> SchemaDraft:
    default = {"int": "0", "string": '""'}[kind]
    members = ",".join(f'{{"name":"{name}","type":"{kind}","default":{default}}}' for name in fields)
    return SchemaDraft(f'{{"type":"record","name":"R","fields":[{members}]}}')


def test_many_registrations_at_once_are_judged_as_one_by_one(database_url: str) -> None:
    """Each of 24 clients writes its subject's history, meets its own version again, and is refused what breaks it."""
    app = create_app(Settings(database_url=database_url))

    def client(place: int) -> list[int]:
        with Registry(app=app) as registry:
            subject = f"s{place % 12}"  # two clients write each
            ids = [registry.register(subject, record(*"abcdef"[: 1 + number])).schema_id for number in range(6)]
            assert [registry.register(subject, record(*"abcdef"[: 1 + one])).schema_id for one in range(6)] == ids
            with pytest.raises(IncompatibleSchema):
                registry.register(subject, record("a", kind="string"))
            return ids

    try:
        with ThreadPoolExecutor(24) as threads:
            found = list(threads.map(client, range(24)))
    finally:
        app.state.close()
    assert all(ids == found[0] for ids in found)
    assert sorted(found[0]) == list(range(1, 7))
