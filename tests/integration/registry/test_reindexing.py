"""A release with another canonical form finds stored contents under their ids and guids."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx2
import pytest
from sqlalchemy import select, update

from contractlog.compatibility.content_identity import CANONICAL_FORM
from contractlog.registry.app import create_app
from contractlog.registry.registration.hash_replacement import replace_outdated_hashes
from contractlog.registry.storage import tables
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

RECORD = json.dumps({"type": "record", "name": "R", "fields": []})
LEANING = json.dumps({"type": "record", "name": "L", "fields": [{"name": "r", "type": "R"}]})
REFERENCE = {"name": "R", "subject": "r", "version": 1}


@pytest.fixture
def http(store: Store) -> Iterator[httpx2.Client]:
    from contractlog.clients.asgi_transport import BlockingASGITransport

    with httpx2.Client(
        transport=BlockingASGITransport(create_app(store=store)), base_url="http://registry", timeout=60
    ) as client:
        yield client


def state(store: Store) -> tuple[list[object], list[object]]:
    c, s = tables.contents.c, tables.schemas.c
    with store.open_snapshot() as snapshot:
        execute = snapshot.connection.execute
        contents = execute(select(c.context, c.hash, c.schema_id).order_by(c.context, c.hash)).all()
        schemas = execute(select(s.context, s.id, s.hash, s.normalized_hash, s.guid, s.text, s.canonical_form)).all()
    return sorted(map(tuple, contents)), sorted(map(tuple, schemas))


def test_hashes_of_another_form_are_made_again_and_nothing_else_changes(store: Store, http: httpx2.Client) -> None:
    for subject, body in {
        "r": {"schema": RECORD},
        "l": {"schema": LEANING, "references": [REFERENCE], "metadata": {"properties": {"a": "b"}}},
        ":.eu:r": {"schema": RECORD},
        "j": {"schema": '{"type":"object"}', "schemaType": "JSON"},
    }.items():
        assert http.post(f"/subjects/{subject}/versions", json=body).status_code == 200
    before = state(store)

    def age(transaction: Transaction) -> None:
        s, c = tables.schemas.c, tables.contents.c
        old = {"hash": "old " + s.hash, "normalized_hash": "old " + s.normalized_hash, "canonical_form": 1}
        transaction.connection.execute(update(tables.schemas).values(**{k: _short(v) for k, v in old.items()}))
        transaction.connection.execute(update(tables.contents).values(hash=_short("old " + c.hash)))

    store.transact(age).result(60)
    lost = http.post("/subjects/r", json={"schema": RECORD})
    assert lost.json()["error_code"] == 40403
    assert store.transact(replace_outdated_hashes).result(60) == 4
    assert state(store) == before
    assert store.transact(replace_outdated_hashes).result(60) == 0
    # ``db upgrade`` replaces hashes before a node serves, so that responses from memory are not invalidated by it.
    found = http.post("/subjects/r", params={"normalize": "false"}, json={"schema": RECORD}).json()
    assert (found["id"], found["version"]) == (1, 1)
    assert {row[-1] for row in before[1]} == {CANONICAL_FORM}


def _short(value: object) -> object:
    from sqlalchemy import func

    return value if isinstance(value, int) else func.substr(value, 1, 64)
