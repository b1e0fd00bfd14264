"""Counts of fetches by id, on every path, written in batches and summed over processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from contractlog.registry.database import open_store
from contractlog.registry.features.fetch_counts import queries as fetches
from contractlog.registry.features.fetch_counts.counter import MAX_CLIENTS, OTHER_CLIENTS, FetchCounter
from contractlog.registry.features.fetch_counts.queries import FetchKey
from contractlog.registry.settings import Settings
from contractlog.registry.storage.store import Store

from support.registry import in_process

FETCHES = "/contractlog/v1/fetches"
PYTHON = {"Confluent-Client-Version": "python/2.16.1", "User-Agent": "agent"}


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        yield client


def counts_of(node: httpx2.Client) -> FetchCounter:
    return node.app.state.services.fetch_counter  # type: ignore[attr-defined]


def register(node: httpx2.Client, subject: str, schema: Any) -> int:
    answer = node.post(f"/subjects/{subject}/versions", json={"schema": json.dumps(schema)})
    return int(answer.json()["id"])


def told(node: httpx2.Client, **query: Any) -> list[tuple[str, int, str, int]]:
    answer = node.get(FETCHES, params=query)
    assert answer.status_code == 200, answer.text
    return [(one["context"], one["id"], one["client"], one["count"]) for one in answer.json()["fetches"]]


def test_every_fetch_is_counted_whether_it_comes_from_memory_or_not(node: httpx2.Client) -> None:
    schema_id = register(node, "s", "string")
    guid = node.get(f"/schemas/ids/{schema_id}", headers=PYTHON).json()["guid"]
    for path in (f"ids/{schema_id}", f"ids/{schema_id}?subject=s", f"ids/{schema_id}?fetchMaxId=true",
                 f"ids/{schema_id}/schema", f"guids/{guid}"):  # fmt: skip
        for _ in range(2):
            assert node.get(f"/schemas/{path}", headers=PYTHON).status_code == 200
    assert node.get("/schemas/ids/7", headers=PYTHON).status_code == 404
    assert told(node, id=schema_id) == [(".", schema_id, "python/2.16.1", 11)]
    assert told(node, id=7) == []


def test_counts_are_the_same_before_and_after_they_are_written_down(node: httpx2.Client) -> None:
    schema_id = register(node, "s", "string")
    for number in range(1, 4):
        node.get(f"/schemas/ids/{schema_id}", headers=PYTHON)
        assert told(node, id=schema_id) == [(".", schema_id, "python/2.16.1", number)]
        counts_of(node).flush()
        assert counts_of(node).pending() == {}
        assert told(node, id=schema_id) == [(".", schema_id, "python/2.16.1", number)]


def test_a_client_is_named_by_the_header_that_tells_most(node: httpx2.Client) -> None:
    schema_id = register(node, "s", "string")
    for headers in (PYTHON, PYTHON | {"X-Contractlog-Client": "billing"}, {"User-Agent": "Java/17"},
                    {"User-Agent": "é\tx" * 200}, {"User-Agent": ""}):  # fmt: skip
        node.get(f"/schemas/ids/{schema_id}", headers={k: v.encode("latin-1") for k, v in headers.items()})
    names = [name for _, _, name, _ in told(node, id=schema_id)]
    assert sorted(name[:13] for name in names) == ["Java/17", "billing", "python/2.16.1", "unknown", "é?xé?xé?xé?xé"]
    assert max(map(len, names)) == 128


def test_a_subject_tells_of_all_that_its_versions_hold(node: httpx2.Client) -> None:
    node.put("/config", json={"compatibility": "NONE"})
    ids = [register(node, "s", kind) for kind in ("string", "long")]
    elsewhere = register(node, ":.eu:s", "string")
    for schema_id in ids:
        node.get(f"/schemas/ids/{schema_id}", headers=PYTHON)
    node.get(f"/schemas/ids/{elsewhere}?subject=:.eu:", headers=PYTHON)
    node.delete("/subjects/s/versions/1")
    assert told(node, subject="s") == [(".", one, "python/2.16.1", 1) for one in ids]
    assert told(node, subject=":.eu:s") == told(node, subject=":.eu:", id=elsewhere)
    assert told(node, subject=":.eu:s") == [(".eu", elsewhere, "python/2.16.1", 1)]
    assert told(node, subject="s", limit=1) == [(".", ids[0], "python/2.16.1", 1)]


@pytest.mark.parametrize(
    ("query", "code"),
    [("", 42281), ("id=x", 42281), ("id=-1", 42281), ("id=1&days=0", 42281), ("id=2147483648", 42281),
     ("id=1&days=401", 42281), ("id=1&limit=10001", 42281), ("id=1&limit=x", 42281),
     ("subject=nobody", 40401)],
)  # fmt: skip
def test_invalid_requests_for_counts_have_error_codes(node: httpx2.Client, query: str, code: int) -> None:
    assert node.get(f"{FETCHES}?{query}").json()["error_code"] == code


def test_two_processes_add_up_day_by_day(store: Store) -> None:
    now = [100 * 86_400.0]
    one, two = (FetchCounter(store, clock=lambda: now[0]) for _ in range(2))
    for day in (100, 101):
        now[0] = day * 86_400.0
        for counts in (one, two, one):
            counts.count(".", 1, [(b"user-agent", b"a")])
            counts.count(".eu", 1, [])
            counts.flush()
    with store.open_snapshot() as snapshot:
        found = fetches.find_counts(snapshot, {(".", 1), (".eu", 1)}, since=0, limit=10)
        assert list(fetches.find_counts(snapshot, {(".", 1)}, since=101, limit=10).values()) == [3]
    assert found == {
        FetchKey(context, 1, client, day): 3
        for context, client in ((".", "a"), (".eu", "unknown"))
        for day in (100, 101)
    }
    now[0] = 600 * 86_400.0
    one.count(".", 2, [])
    one.flush()
    with store.open_snapshot() as snapshot:
        assert fetches.find_counts(snapshot, {(".", 1), (".eu", 1)}, since=0, limit=10) == {}


def test_a_process_tells_a_thousand_clients_apart_and_no_more(store: Store) -> None:
    counts = FetchCounter(store)
    for number in range(1_500):
        counts.count(".", 1, [(b"user-agent", str(number).encode())])
    pending = {one.client: number for one, number in counts.pending().items()}
    assert len(pending) == 1_001
    assert pending[OTHER_CLIENTS] == 500
    counts.flush()
    with store.open_snapshot() as snapshot:
        assert len(fetches.find_counts(snapshot, {(".", 1)}, since=0, limit=9_999)) == 1_001


def test_a_caller_with_many_clients_takes_no_names_from_others(store: Store) -> None:
    counts = FetchCounter(store)
    for number in range(MAX_CLIENTS + 300):
        counts.count(".", 1, [(b"x-contractlog-client", b"n%d" % number)], "alice")
    counts.count(".", 3, [(b"x-contractlog-client", b"billing-service")], "bob")
    counts.count(".", 3, [(b"x-contractlog-client", b"billing-service")])
    pending = counts.pending()
    assert {key.client for key in pending if key.schema_id == 3} == {"bob (billing-service)", "billing-service"}
    of_alice = {key.client: number for key, number in pending.items() if key.schema_id == 1}
    assert len(of_alice) == MAX_CLIENTS + 1
    assert of_alice[f"alice ({OTHER_CLIENTS})"] == 300


def test_a_caller_with_many_counts_leaves_room_for_those_of_others(store: Store) -> None:
    counts = FetchCounter(store)
    for number in range(12_000):
        counts.count(".", number, [], "alice")
    counts.count(".", 20_000, [], "bob")
    pending = counts.pending()
    assert (len(pending), pending[FetchKey(".", 20_000, "bob (unknown)", counts.today)]) == (10_001, 1)
    counts.flush()
    counts.count(".", 12_000, [], "alice")
    assert len(counts.pending()) == 1


def test_names_that_begin_alike_beyond_the_longest_stored_name_are_one_client(store: Store) -> None:
    counts = FetchCounter(store)
    for number in range(3):
        counts.count(".", 1, [(b"user-agent", b"x" * 60_000 + b"%d" % number)])
    assert list(counts.pending().values()) == [3]


def test_counts_that_cannot_be_written_down_are_kept(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    closed = open_store(Settings(database_url=url))
    closed.close()
    counts = FetchCounter(closed)
    counts.count(".", 1, [])
    counts.flush()
    assert list(counts.pending().values()) == [1]


def test_an_ending_process_writes_down_what_it_counted(tmp_path: Any) -> None:
    settings = Settings(database_url=f"sqlite:///{tmp_path / 'registry.db'}")
    with in_process(settings) as node:
        schema_id = register(node, "s", "string")
        node.get(f"/schemas/ids/{schema_id}", headers=PYTHON)
    with in_process(settings) as node:
        assert told(node, id=schema_id) == [(".", schema_id, "python/2.16.1", 1)]
