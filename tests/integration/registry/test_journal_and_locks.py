"""The journal is gapless and has the settings of each check; locks block only conflicting writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from sqlalchemy import create_engine, select, text
from sqlalchemy.exc import OperationalError

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.locks import lock_contexts
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import ScopeSettings

from support.registry import in_process

STRING, LONG = '"string"', '"long"'


@pytest.fixture
def http(store: Store) -> Iterator[httpx2.Client]:
    from contractlog.clients.asgi_transport import BlockingASGITransport

    with httpx2.Client(
        transport=BlockingASGITransport(create_app(store=store)), base_url="http://registry", timeout=60
    ) as client:
        yield client


def lines(store: Store) -> list[dict[str, Any]]:
    with store.open_snapshot() as snapshot:
        rows = snapshot.connection.execute(select(tables.changes).order_by(tables.changes.c.sequence)).mappings().all()
    return [dict(row) | {"details": json.loads(row["details"]) if row["details"] else {}} for row in rows]


def post(http: httpx2.Client, subject: str, schema: str, query: str = "", **members: Any) -> int:
    return http.post(f"/subjects/{subject}/versions{query}", json={"schema": schema, **members}).status_code


def test_a_registration_s_line_names_what_it_was_judged_by(store: Store, http: httpx2.Client) -> None:
    post(http, "s", STRING)
    http.put("/config/s", json={"compatibility": "FULL_TRANSITIVE", "compatibilityPolicy": "LENIENT"})
    wide = json.dumps(["null", "string"])
    post(http, "s", wide, "?force=true")
    http.put("/config/s", json={"compatibility": "NONE", "compatibilityGroup": "major"})
    post(http, "s", LONG)
    http.put("/mode/t", json={"mode": "IMPORT"})
    post(http, "t", LONG, id=70)
    told = [one["details"] for one in lines(store) if one["action"] == "version.registered"]
    assert told == [
        {"id": 1, "level": "BACKWARD", "policy": "STRICT", "group": None, "baseline": []},
        {"id": 2, "level": "FULL_TRANSITIVE", "policy": "LENIENT", "group": None, "baseline": [], "bypass": "force"},
        {"id": 3, "level": "NONE", "policy": "LENIENT", "group": "major", "baseline": [], "bypass": "NONE"},
        {"id": 70, "bypass": "IMPORT"},
    ]
    settings = [one["details"]["set"] for one in lines(store) if one["action"] == "settings.changed"]
    assert settings[0] == {"level": "FULL_TRANSITIVE", "compatibility_policy": "LENIENT"}
    assert settings[-1] == {"mode": "IMPORT"}


def test_a_change_of_settings_tells_the_hashes_before_and_after(store: Store, http: httpx2.Client) -> None:
    def digest(text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()

    http.put("/config/s", json={"compatibility": "FULL"})
    http.put("/mode/s", json={"mode": "READONLY"})
    http.delete("/mode/s")
    http.delete("/config/s")
    full, both = digest('{"level":"FULL"}'), digest('{"level":"FULL","mode":"READONLY"}')
    told = [(one["target"], one["before"], one["after"]) for one in lines(store)]
    assert told == [("s", None, full), ("s", full, both), ("s", both, full), ("s", full, None)]


def test_the_journal_does_not_show_what_is_sensitive_but_tells_that_it_changed(
    store: Store, http: httpx2.Client
) -> None:
    for secret in ("hidden", "other"):
        default = {"properties": {"key": secret, "owner": "me", "token": secret}, "sensitive": ["key"]}
        override = {"properties": {"key": secret}, "sensitive": ["token"]}
        http.put("/config/s", json={"defaultMetadata": default, "overrideMetadata": override})
    first, second = lines(store)
    assert first["details"] == second["details"]
    assert first["details"]["set"] == {
        "default_metadata": {
            "properties": {"key": "***", "owner": "me", "token": "***"},
            "sensitive": ["key"],
        },
        "override_metadata": {"properties": {"key": "***"}, "sensitive": ["token"]},
    }
    assert first["after"] == second["before"] != second["after"]
    assert http.get("/config/s").json()["overrideMetadata"]["properties"] == {"key": "other"}


def test_the_baseline_is_what_the_level_selects(store: Store, http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "BACKWARD_TRANSITIVE"})
    for kind in ("int", "long", "float"):
        assert post(http, "s", json.dumps(kind)) == 200
    http.put("/config", json={"compatibility": "BACKWARD"})
    assert post(http, "s", '"double"') == 200
    told = [one["details"]["baseline"] for one in lines(store) if one["action"] == "version.registered"]
    assert told == [[], [1], [1, 2], [3]]


def test_numbers_have_no_gaps_whatever_fails(store: Store, http: httpx2.Client) -> None:
    def one(number: int) -> None:
        post(http, f"s{number % 5}", [STRING, LONG, '"int"', "no schema"][number % 4])
        http.delete(f"/subjects/s{number % 7}")
        http.put(f"/config/s{number % 3}", json={"compatibility": "NONE"})
        http.delete(f"/subjects/s{number % 7}?permanent=true")

    def fail(_transaction: object) -> None:
        raise ValueError

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(40)))
        failed = [store.transact(fail) for _ in range(10)]
    assert all(isinstance(one.exception(30), ValueError) for one in failed)
    found = lines(store)
    assert [line["sequence"] for line in found] == list(range(1, len(found) + 1))
    registered = sum(line["action"] == "version.registered" for line in found)
    deleted = sum(line["action"] == "version.hard_deleted" for line in found)
    with store.open_snapshot() as snapshot:
        held = len(snapshot.connection.execute(select(tables.versions.c.version)).all())
    assert registered - deleted == held
    assert registered > 5


def test_a_change_that_fails_takes_nothing_with_it(store: Store) -> None:
    def half(transaction: Any) -> None:
        transaction.configure(Subject.parse("s"), ScopeSettings(normalize=True))
        raise ValueError

    good = [
        store.transact(
            lambda transaction, n=n: transaction.configure(Subject.parse(f"g{n}"), ScopeSettings(normalize=True))
        )
        for n in range(3)
    ]
    assert isinstance(store.transact(half).exception(30), ValueError)
    assert [one.result(30) for one in good] == [None] * 3
    assert [line["target"] for line in lines(store)] == ["g0", "g1", "g2"]


@pytest.mark.integration
def test_only_writes_to_the_same_context_wait_for_each_other(upgraded_postgres_url: str) -> None:
    store = open_store(Settings(database_url=upgraded_postgres_url))
    with in_process(Settings(database_url=upgraded_postgres_url)) as http:
        for context in (".", ".eu", ".us"):
            assert post(http, f":{context}:s", STRING) == 200
    url = parse_url(upgraded_postgres_url)
    first, second = (create_engine(url, hide_parameters=True) for _ in range(2))

    def waits(held: set[str] | None, wanted: set[str] | None) -> bool:
        with first.begin() as one, second.connect() as other:
            lock_contexts(one, held)
            other.execute(text("SET lock_timeout = '200ms'"))
            try:
                lock_contexts(other, wanted)
            except OperationalError:
                return True
            return False

    assert not waits({".eu"}, {".us"})
    assert waits({".eu"}, {".eu", ".us"})
    assert waits({"."}, {".eu"})  # the default context's row is held shared by all
    assert waits({".eu"}, {".new"})  # to bring a context into being is to be alone
    assert waits(None, {".us"})
    assert waits({".us"}, None)
    store.close()
    first.dispose()
    second.dispose()
