"""Filled databases are downgraded and upgraded without long locks."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import MetaData, create_engine, inspect, select, text

from contractlog.compatibility.errors import Unreachable
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.database import current_revision, downgrade, newest_revision, upgrade
from contractlog.registry.features.change_log.queries import add_position
from contractlog.registry.features.change_requests.queries import insert_approval, insert_waiver
from contractlog.registry.features.change_requests.values import ActionKind, StoredWaiver
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import parse_url

from support.deadlines import eventually
from support.lineage_events import dataset, job_event
from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

STEP_BACK = f"{int(newest_revision()) - 1:04}"
R, R2 = (json.dumps({"type": "record", "name": "R", "fields": fields}) for fields in ([], [
    {"name": "x", "type": ["null", "long"], "default": None, "doc": "größer"},
]))  # fmt: skip
LEANING = '{"type":"record","name":"L","fields":[{"name":"r","type":"R"}]}'
AUDIT = {
    "topic": "flights", "part": "value", "verdict": "unknown", "conformance": None,
    **dict.fromkeys(("records", "conforming", "violating", "tombstones", "absent"), 0),
    **{name: [] for name in ("partitions", "schemas", "violations", "series", "fields", "notes")},
}  # fmt: skip

WAIVER = StoredWaiver(
    id=0, subject=Subject.parse("r"), kind=ActionKind.DELETION, grantee="alice", reason="moving", request_id=1,
    granted_at=1, expires_at=2**40,
)  # fmt: skip

Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        url: str = request.getfixturevalue("postgres_url")
        upgrade(url)
        return url
    return f"sqlite:///{tmp_path / 'registry.db'}"


def fill(http: httpx2.Client) -> None:
    """Put something into every table."""
    requests: list[tuple[str, str, Any]] = [
        ("PUT", "/config", {"compatibility": "FULL"}),
        ("PUT", "/config/r", {"compatibilityPolicy": "LENIENT", "compatibilityGroup": "major"}),
        ("PUT", "/mode/read", {"mode": "READONLY"}),
        ("POST", "/subjects/r/versions", {"schema": R, "metadata": {"properties": {"major": "1"}}}),
        ("POST", "/subjects/r/versions", {"schema": R2, "metadata": {"properties": {"major": "1"}}}),
        ("POST", "/subjects/:.eu:s/versions", {"schema": '{"type":"object"}', "schemaType": "JSON"}),
        ("POST", "/subjects/gone/versions", {"schema": '"int"'}),
        ("DELETE", "/subjects/gone", None),
        ("DELETE", "/subjects/gone?permanent=true", None),
        ("POST", "/subjects/hidden/versions", {"schema": '"long"'}),
        ("DELETE", "/subjects/hidden", None),
        ("POST", "/subjects/l/versions",
         {"schema": LEANING, "references": [{"name": "R", "subject": "r", "version": 1}]}),
        ("POST", "/associations",
         {"resourceName": "orders", "resourceNamespace": "lkc", "resourceId": "1", "resourceType": "topic",
          "associations": [{"associationType": "value", "schema": {"schema": '"string"'}}]}),
        ("POST", "/contractlog/v1/conformance/flights", AUDIT),
        ("POST", "/contractlog/v1/lineage", job_event(inputs=[dataset("orders")], outputs=[dataset("flights")])),
        ("POST", "/dek-registry/v1/keks", {"name": "pii", "kmsType": "local-kms", "kmsKeyId": "k"}),
        ("POST", "/dek-registry/v1/keks/pii/deks/orders-value", {"encryptedKeyMaterial": "d3JhcHBlZA=="}),
        ("PUT", "/contractlog/v1/contracts/flights",
         {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "flights", "version": "1.0.0"}),
        ("POST", "/contractlog/v1/change-requests",
         {"subject": "r", "reason": "moving", "change": {"mode": {"mode": "READWRITE"}}}),
        ("POST", "/contractlog/v1/change-requests/1/comments", {"text": "why?"}),
        ("POST", "/contractlog/v1/change-requests/1/merge", None),
        ("GET", "/schemas/ids/1", None),
    ]  # fmt: skip
    for method, path, body in requests:
        answer = http.request(method, path, json=body)
        assert answer.status_code == 200, (method, path, answer.text)
    begin = partial(add_position, name="hook", sequence=1)
    http.app.state.services.store.transact(begin, contexts=()).result()  # type: ignore[attr-defined]
    approve = partial(insert_approval, request_id=1, approver="alice")  # without users, nobody can
    http.app.state.services.store.transact(approve).result()  # type: ignore[attr-defined]
    grant = partial(insert_waiver, waiver=WAIVER)  # without owners, nobody can
    http.app.state.services.store.transact(grant).result()  # type: ignore[attr-defined]
    http.app.state.services.fetch_counter.flush()  # type: ignore[attr-defined]
    assert hits(http)


def hits(http: httpx2.Client) -> list[Any]:
    """Search, once all is indexed."""
    http.app.state.services.start()  # type: ignore[attr-defined]

    def search() -> dict[str, Any] | None:
        told: dict[str, Any] = http.get("/contractlog/v1/search", params={"field": "x"}).json()
        return told if told["indexed_to"] == told["head"] else None

    found = eventually(search)
    assert found is not None
    return list(found["hits"])


def held(url: str) -> Rows:
    """Read all tables, as they are now."""
    engine = create_engine(parse_url(url))
    there = MetaData()
    with engine.connect() as connection:
        there.reflect(connection)
        rows = {
            name: sorted((dict(row) for row in connection.execute(select(table)).mappings()), key=repr)
            for name, table in there.tables.items()
            if name != "alembic_version"
        }
    engine.dispose()
    return rows


def within(rows: Rows, less: Rows) -> Rows:
    """Keep the tables and columns that the others have."""
    return {
        name: sorted(({column: row[column] for column in kept[0]} for row in rows[name]), key=repr)
        for name, kept in less.items()
    }


def asked(http: httpx2.Client) -> list[Any]:
    paths = ("/subjects?deleted=true&subjectPrefix=:*:", "/subjects/r/versions/1", "/subjects/l/versions/latest",
             "/subjects/hidden/versions/1?deleted=true", "/subjects/:.eu:s/versions/1", "/schemas/ids/1",
             "/contexts", "/config", "/config/r", "/mode/read",
             "/contractlog/v1/conformance/flights", "/subjects/r/versions/1/referencedby")  # fmt: skip
    return [http.get(path).json() for path in paths]


def test_a_step_back_and_on_again_keeps_what_both_revisions_hold(database: str) -> None:
    with in_process(Settings(database_url=database)) as http:
        fill(http)
        answers, indexed = asked(http), hits(http)
    full = held(database)
    assert set(full) == set(tables.metadata.tables)
    assert [name for name, rows in full.items() if not rows] == []
    assert downgrade(database, STEP_BACK) == STEP_BACK
    before = held(database)
    assert within(full, before) == before
    assert upgrade(database) == newest_revision()
    again = held(database)
    assert set(again) == set(full)
    assert within(again, before) == before
    with in_process(Settings(database_url=database)) as http:
        assert asked(http) == answers
        registered = http.post("/subjects/new/versions", json={"schema": '"bytes"'}).json()
        assert [registered["id"]] == [row["next_schema_id"] for row in full["contexts"] if row["name"] == "."]
        assert hits(http) == indexed
    numbers = [row["sequence"] for row in held(database)["changes"]]
    assert sorted(numbers) == list(range(1, len(full["changes"]) + 2))


@pytest.mark.integration
@pytest.mark.parametrize("locking", ["LOCK TABLE marks", "SELECT pg_advisory_xact_lock(7211968011)"])
def test_an_upgrade_does_not_wait_long_for_others_and_says_what_to_do(postgres_url: str, locking: str) -> None:
    upgrade(postgres_url)
    downgrade(postgres_url, STEP_BACK)
    before = held(postgres_url)
    engine = create_engine(parse_url(postgres_url))
    with engine.begin() as other:
        other.execute(text(locking))
        with pytest.raises(Unreachable, match=r"was not changed: another session holds .* run this again"):
            upgrade(postgres_url, lock_timeout_ms=200)
    assert current_revision(postgres_url)[0] == STEP_BACK
    assert held(postgres_url) == before
    assert upgrade(postgres_url) == newest_revision()
    with engine.connect() as connection:
        assert set(inspect(connection).get_table_names()) == {*tables.metadata.tables, "alembic_version"}
    engine.dispose()


@pytest.mark.integration
def test_a_statement_of_an_upgrade_does_not_take_longer_than_it_may(postgres_url: str) -> None:
    upgrade(postgres_url)
    downgrade(postgres_url, STEP_BACK)
    before = held(postgres_url)
    engine = create_engine(parse_url(postgres_url))
    slow = "RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); END $$"
    with engine.begin() as connection:
        connection.execute(text(f"CREATE FUNCTION slow() {slow}"))
        connection.execute(text("CREATE EVENT TRIGGER slow ON ddl_command_start EXECUTE FUNCTION slow()"))
    with pytest.raises(Unreachable, match=r"was not changed: a statement took longer .* run this again"):
        upgrade(postgres_url, statement_timeout_ms=200)
    assert current_revision(postgres_url)[0] == STEP_BACK
    assert held(postgres_url) == before
    with engine.begin() as connection:
        connection.execute(text("DROP EVENT TRIGGER slow"))
    assert upgrade(postgres_url) == newest_revision()
    engine.dispose()
