"""Texts that an import stores verbatim are served and found, and reject registrations."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from contractlog.clients.asgi_transport import BlockingASGITransport
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaType
from contractlog.registry.app import create_app
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents, TransferredSchema, TransferredVersion
from contractlog.registry.transfer.report import TransferReport

PROTO = 'syntax = "proto3";\n\nmessage M {\n  string name = 1;\n}\n'
LARGE = '{"type":"enum","name":"E","symbols":[' + ",".join(f'"S{n}"' for n in range(3)) + "]"  # no end: no schema


@pytest.fixture
def http() -> Iterator[httpx2.Client]:
    settings = Settings(database_url="sqlite://")
    store, state = open_store(settings), RegistryContents()
    for number, (name, kind, text) in enumerate(
        [("proto", SchemaType.PROTOBUF, PROTO), ("broken", SchemaType.AVRO, LARGE)], 1
    ):
        subject = Subject(".", name)
        state.schemas[".", number] = TransferredSchema(".", number, kind, text, created_at=1)
        state.versions[subject, 1] = TransferredVersion(subject, 1, number, 1)
    state.raise_counters()
    import_contents(store, state, TransferReport())
    app = create_app(settings, store)
    with httpx2.Client(transport=BlockingASGITransport(app), base_url="http://registry", timeout=60) as client:
        yield client
    app.state.close()


CASES = [(1, "proto", {"schema": PROTO, "schemaType": "PROTOBUF"}), (2, "broken", {"schema": LARGE})]


@pytest.mark.parametrize(("schema_id", "subject", "body"), CASES)
def test_it_is_served(http: httpx2.Client, schema_id: int, subject: str, body: dict[str, str]) -> None:
    assert http.get(f"/schemas/ids/{schema_id}").json()["schema"] == body["schema"]
    assert http.get(f"/subjects/{subject}/versions/latest").json()["id"] == schema_id
    guid = http.get(f"/subjects/{subject}/versions/1").json()["guid"]
    assert http.get(f"/schemas/guids/{guid}").json()["schema"] == body["schema"]


@pytest.mark.parametrize(("schema_id", "subject", "body"), CASES)
def test_it_is_found_by_its_very_text(http: httpx2.Client, schema_id: int, subject: str, body: dict[str, str]) -> None:
    assert http.post(f"/subjects/{subject}", json=body).json()["id"] == schema_id
    assert http.post(f"/subjects/{subject}", json=body | {"schema": body["schema"] + " "}).status_code == 422


@pytest.mark.parametrize(("schema_id", "subject", "body"), CASES)
def test_registering_it_again_answers_the_id_that_it_has(
    http: httpx2.Client, schema_id: int, subject: str, body: dict[str, str]
) -> None:
    answer = http.post(f"/subjects/{subject}/versions", json=body)
    assert (answer.status_code, answer.json().get("id")) == (200, schema_id)


@pytest.mark.parametrize(("schema_id", "subject", "body"), CASES)
def test_its_subject_takes_no_other_schema(
    http: httpx2.Client, schema_id: int, subject: str, body: dict[str, str]
) -> None:
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": '"int"'})
    assert answer.json()["error_code"] == 42205
    assert answer.json()["message"].startswith(f"Subject {subject} in context . is closed to registration: its newest")
    assert http.get(f"/subjects/{subject}/versions").json() == [1]
