"""A response by id or guid names no subject that the caller may not read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.permissions import Permissions
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.http.redaction import redact_unreadable
from contractlog.registry.settings import Settings

from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

ADMIN, READER, STRANGER = ("admin", "a"), ("reader", "r"), ("stranger", "s")
PERMISSIONS: Final = {
    ADMIN: ([], ["*"]),
    READER: (["orders", "customers"], []),
    STRANGER: (["mine-*", "customers"], []),
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[httpx2.Client]:
    """A registry whose id 3 references a readable and a secret subject."""
    path = tmp_path / "users.toml"
    path.write_text(
        "\n".join(
            format_entry(name, HashedPassword.of(password, n=2, r=1, p=1), read, write)
            for (name, password), (read, write) in PERMISSIONS.items()
        )
    )
    with in_process(Settings(database_url="sqlite://", users_file=str(path))) as http:
        for subject, name in (("customers", "Customer"), ("secret", "Secret")):
            schema = json.dumps({"type": "record", "name": name, "fields": []})
            http.post(f"/subjects/{subject}/versions", json={"schema": schema}, auth=ADMIN).raise_for_status()
        fields = [{"name": name.lower(), "type": name} for name in ("Customer", "Secret")]
        references = [
            {"name": name, "subject": subject, "version": 1}
            for name, subject in (("Customer", "customers"), ("Secret", "secret"))
        ]
        order = {"schema": json.dumps({"type": "record", "name": "Order", "fields": fields}), "references": references}
        http.post("/subjects/orders/versions", json=order, auth=ADMIN).raise_for_status()
        yield http


def referenced(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200
    return [reference["subject"] for reference in answer.json().get("references", [])]


@pytest.mark.parametrize("query", ["", "?subject=", "?subject=mine-value", "?fetchMaxId=true", "?format=resolved"])
def test_a_schema_by_id_names_no_unreadable_subject(client: httpx2.Client, query: str) -> None:
    for _ in ("from the database", "from memory"):
        answer = client.get(f"/schemas/ids/3{query}", auth=STRANGER)
        assert "secret" not in answer.text.replace("Secret", "").replace('\\"name\\":\\"secret\\"', "")
        assert referenced(answer) == ["customers"]


def test_who_may_read_the_subject_sees_all_its_references(client: httpx2.Client) -> None:
    everything = ["customers", "secret"]
    assert referenced(client.get("/schemas/ids/3", auth=READER)) == everything
    assert referenced(client.get("/subjects/orders/versions/1", auth=READER)) == everything


@pytest.mark.parametrize("query", ["", "?referenceFormat=qualified"])
def test_a_schema_by_guid_names_no_unreadable_subject(client: httpx2.Client, query: str) -> None:
    guid = client.get("/schemas/ids/3", auth=ADMIN).json()["guid"]
    assert referenced(client.get(f"/schemas/guids/{guid}{query}", auth=STRANGER)) == ["customers"]
    assert referenced(client.get(f"/schemas/guids/{guid}{query}", auth=ADMIN)) == ["customers", "secret"]


@pytest.mark.parametrize(
    ("context", "subject", "readable"),
    [
        (".", "hers", False),
        (".", ":.eu:mine", True),
        (".eu", "mine", True),
        (".us", "mine", False),
        (".us", ":.eu:mine", True),
        (".eu", ":.:mine", False),
    ],
)
def test_an_unqualified_reference_is_in_the_context_of_the_schema(
    context: str, subject: str, *, readable: bool
) -> None:
    members = {"schemaType": "AVRO", "references": [{"name": "R", "subject": subject, "version": 1}], "schema": "{}"}
    redacted = json.loads(redact_unreadable(msgspec.json.encode(members), Permissions.of([":.eu:*"], []), context))
    assert redacted == members if readable else redacted == {"schemaType": "AVRO", "schema": "{}"}


@pytest.mark.parametrize("member", ["", "/schema", "/subjects", "/versions"])
@pytest.mark.parametrize("context", ["", ":.staging:"])
def test_an_unreadable_subject_beside_an_id_does_not_exist(client: httpx2.Client, context: str, member: str) -> None:
    schema = {"schema": '{"type":"fixed","name":"F","size":1}'}
    schema_ids = [
        client.post(f"/subjects/{subject}/versions", json=schema, auth=ADMIN).json()["id"]
        for subject in (f"{context}hidden", ":.staging:only", ":.staging:mine-one")
    ]
    for schema_id, subject in zip(schema_ids, (f"{context}hidden", f"{context}only"), strict=False):
        path = f"/schemas/ids/{schema_id}{member}?subject="
        assert client.get(path + subject, auth=ADMIN).status_code == 200  # it is cached now
        for slash in ("", "/"):  # with a slash, the request takes the route
            hidden, missing = (
                client.get(f"/schemas/ids/{schema_id}{member}{slash}?subject={name}", auth=STRANGER)
                for name in (subject, f"{context}nothing")
            )
            assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content)


def test_an_error_by_id_names_no_missing_reference(client: httpx2.Client) -> None:
    guid = "11111111-2222-3333-4444-555555555555"
    lines: list[dict[str, object]] = [
        {"format": "contractlog.export/1", "tool": "test", "exported_at": 1, "journal": 0},
        {"kind": "context", "name": ".eu", "next_id": 6},
        {"kind": "schema", "context": ".eu", "id": 5, "guid": guid, "type": "AVRO", "schema": '{"type":"Gone"}'},
        {"kind": "version", "subject": ":.eu:broken", "version": 1, "id": 5, "created": 1},
        {"kind": "end", "lines": 5},
    ]
    lines[2] |= {"references": [{"name": "Gone", "subject": "secret-gone", "version": 7}], "created": 1}
    export = "\n".join(map(json.dumps, lines)) + "\n"
    headers = {"Content-Type": "application/x-ndjson"}
    client.post("/contractlog/v1/import", content=export, headers=headers, auth=ADMIN).raise_for_status()
    for path in ("ids/5?subject=:.eu:&", "ids/5/schema?subject=:.eu:&", f"guids/{guid}?"):
        hidden, shown = (client.get(f"/schemas/{path}format=resolved", auth=auth) for auth in (STRANGER, ADMIN))
        assert (hidden.json()["error_code"], shown.json()["error_code"]) == (42201, 42201)
        assert "secret-gone" not in hidden.text
        assert "secret-gone" in shown.text
