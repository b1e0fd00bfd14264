"""The twelve requirements that third-party clients have of a server."""

from __future__ import annotations

import base64
import json
import socket
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from contractlog.registry.http.api_response import MEDIA_TYPE

from support.registry import serve_in_thread

RECORD: Final = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})
WIDER: Final = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "string"}]})
THREE: Final = "application/vnd.schemaregistry.v1+json, application/vnd.schemaregistry+json, application/json"
SPREAD: Final = "application/xml, text/xml, application/json, application/*+xml, application/*+json"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own process: some of this is decided before the app sees a request."""
    with serve_in_thread(f"sqlite:///{tmp_path_factory.mktemp('foreign') / 'registry.db'}") as found:
        yield found


@pytest.fixture
def wire(url: str) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=url, timeout=60) as client:
        yield client


@pytest.fixture
def subject() -> str:
    return f"s{uuid.uuid4().hex}"


def register(wire: httpx2.Client, subject: str, schema: str = RECORD, **members: Any) -> dict[str, Any]:
    answer = wire.post(f"/subjects/{subject}/versions", json={"schema": schema, **members})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def sent(url: str, request: str) -> tuple[int, dict[str, str], bytes]:
    """Send bytes as they are: HTTP clients would mend or encode some of them."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request.replace("\n", "\r\n").encode())
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return int(status.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}, body


@pytest.mark.parametrize("kind", ["key", "value"])
@pytest.mark.parametrize("namespace", ["-", "lkc-1"])
def test_1_associations_of_a_topic_are_an_empty_list_or_not_found(
    wire: httpx2.Client, subject: str, namespace: str, kind: str
) -> None:
    answer = wire.get(f"/associations/resources/{namespace}/{subject}?resourceType=topic&associationType={kind}")
    assert (answer.status_code, answer.json()) == (200, []) or answer.status_code == 404


@pytest.mark.parametrize("true", ["true", "True", "TRUE"])
def test_2_booleans_come_in_any_case(wire: httpx2.Client, subject: str, true: str) -> None:
    register(wire, subject)
    wire.delete(f"/subjects/{subject}")
    assert wire.get(f"/subjects/{subject}/versions?deleted={true}").json() == [1]
    for false in ("false", "False", "no", ""):
        assert wire.get(f"/subjects/{subject}/versions?deleted={false}").json()["error_code"] == 40401


@pytest.mark.parametrize(
    "query",
    [
        "?deleted=false&deleted_only=false&offset=0&limit=-1",
        "?deleted=false&deletedOnly=false",
        "?deleted=&offset=&limit=",
        "?deleted=true&normalize=true&verbose=true",
        "?nobody=knows&this",
    ],
)
def test_2_no_limit_unknown_and_empty_parameters_are_taken(wire: httpx2.Client, subject: str, query: str) -> None:
    register(wire, subject)
    assert subject in wire.get(f"/subjects{query}").json()
    assert wire.get(f"/subjects/{subject}/versions{query}").json() == [1]
    assert wire.post(f"/subjects/{subject}/versions{query}", json={"schema": RECORD}).json()["version"] == 1
    for path in ("/contexts", "/schemas/types", "/config", "/mode", f"/subjects/{subject}/versions/latest"):
        assert wire.get(f"{path}{query}").status_code == 200


def test_2_an_empty_subject_beside_an_id_is_none(wire: httpx2.Client, subject: str) -> None:
    schema_id = register(wire, subject)["id"]
    bare = wire.get(f"/schemas/ids/{schema_id}").content
    for query in ("?subject=", "?fetchMaxId=false&subject=", "?deleted=true"):
        assert wire.get(f"/schemas/ids/{schema_id}{query}").content == bare
    assert wire.get(f"/schemas/ids/{schema_id}?subject={subject}").json()["subject"] == subject


def test_2_deleted_only_is_accepted_in_the_notation_of_java_and_of_python(wire: httpx2.Client, subject: str) -> None:
    register(wire, subject)
    for name in ("deletedOnly", "deleted_only"):
        assert subject not in wire.get(f"/subjects?{name}=true").json()
    wire.delete(f"/subjects/{subject}")
    for name in ("deletedOnly", "deleted_only"):
        assert subject in wire.get(f"/subjects?{name}=true").json()
        assert wire.get(f"/subjects/{subject}/versions?{name}=True").json() == [1]


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "text/html, image/gif, image/jpeg, */*; q=0.2", SPREAD, THREE, "application/json, text/plain", "x/y"],
)
def test_3_nothing_is_negotiated_on_accept(url: str, accept: str) -> None:
    line = f"Accept: {accept}\n" if accept else ""
    for path in ("/subjects", "/schemas/types", "/config", "/subjects/nobody/versions/latest"):
        _, headers, body = sent(url, f"GET {path} HTTP/1.1\nHost: localhost\n{line}Connection: close\n\n")
        assert headers["content-type"] == MEDIA_TYPE
        json.loads(body)


@pytest.mark.parametrize("kind", [MEDIA_TYPE, "application/json", "application/octet-stream", None])
def test_3_bodies_are_json_under_any_of_its_names(url: str, subject: str, kind: str | None) -> None:
    body = json.dumps({"schema": RECORD})
    named = f"Content-Type: {kind}\n" if kind else ""
    head = (
        f"POST /subjects/{subject}/versions HTTP/1.1\nHost: localhost\nConnection: close\nContent-Length: {len(body)}\n"
    )
    status, _, answer = sent(url, f"{head}{named}\n{body}")
    assert (status, json.loads(answer)["version"]) == (200, 1)


def test_3_a_content_type_without_a_body_is_nothing(wire: httpx2.Client, subject: str) -> None:
    register(wire, subject)
    for kind in (MEDIA_TYPE, "application/json"):
        headers = {"Content-Type": kind}
        assert wire.get(f"/subjects/{subject}/versions", headers=headers).json() == [1]
    assert wire.delete(f"/subjects/{subject}/versions/latest", headers={"Content-Type": MEDIA_TYPE}).json() == 1


def test_4_a_slash_at_the_end_is_served_and_not_redirected(wire: httpx2.Client, subject: str) -> None:
    assert wire.get("/config/").json() == wire.get("/config").json()
    assert wire.put("/config/", json={"compatibility": "BACKWARD"}).json() == {"compatibility": "BACKWARD"}
    register(wire, subject)
    for path in ("/subjects/", f"/subjects/{subject}/versions/", f"/subjects/{subject}/versions/latest/", "/mode/"):
        assert wire.get(path).status_code == 200


def test_4_empty_credentials_are_ignored_if_none_are_required(wire: httpx2.Client) -> None:
    empty = base64.b64encode(b":").decode()
    assert empty == "Og=="
    assert wire.get("/subjects", headers={"Authorization": f"Basic {empty}"}).status_code == 200
    assert wire.put(
        "/config", json={"compatibility": "BACKWARD"}, headers={"Authorization": f"Basic {empty}"}
    ).is_success


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("a/b", ["a%2Fb", "a%2fb"]),
        ("a:b", ["a:b", "a%3Ab"]),
        ("a b", ["a%20b"]),
        ("a/b:c j-value", ["a%2Fb:c%20j-value", "a%2Fb%3Ac%20j-value"]),
        ("100%", ["100%25"]),
        ("flüge-✈", ["fl%C3%BCge-%E2%9C%88"]),
        ("+;?#", ["%2B%3B%3F%23", "+;%3F%23"]),
        ("n" * 1_000, ["n" * 1_000]),
    ],
)
def test_5_a_subject_is_what_was_encoded(url: str, name: str, written: list[str]) -> None:
    body = json.dumps({"schema": RECORD})
    for number, path in enumerate(written):
        length = f"Content-Length: {len(body)}\nContent-Type: application/json\n"
        request = f"POST /subjects/{path}/versions HTTP/1.1\nHost: localhost\nConnection: close\n{length}\n{body}"
        status, _, answer = sent(url, request)
        assert (status, json.loads(answer)["version"]) == (200, 1), (path, number, answer)
        for question in ("versions/latest", "versions/1"):
            _, _, found = sent(url, f"GET /subjects/{path}/{question} HTTP/1.1\nHost: localhost\nConnection: close\n\n")
            assert json.loads(found)["subject"] == name


def test_6_the_guid_comes_with_the_answers_and_finds_the_schema(wire: httpx2.Client, subject: str) -> None:
    guid = register(wire, subject)["guid"]
    assert str(uuid.UUID(guid)) == guid
    assert wire.get(f"/subjects/{subject}/versions/latest").json()["guid"] == guid
    header = uuid.UUID(guid).bytes  # the bytes after 01 in a record's header
    for text in (str(uuid.UUID(bytes=header)), header.hex()):
        assert json.loads(wire.get(f"/schemas/guids/{text}?deleted=true").json()["schema"]) == json.loads(RECORD)


def test_7_config_is_404_until_it_is_set(wire: httpx2.Client, subject: str) -> None:
    for query in ("", "?defaultToGlobal=false"):
        answer = wire.get(f"/config/{subject}{query}")
        assert (answer.status_code, answer.json()) == (
            404,
            {
                "error_code": 40408,
                "message": f"Subject '{subject}' does not have subject-level compatibility configured",
            },
        )
    assert wire.get(f"/config/{subject}?defaultToGlobal=true").json() == {"compatibilityLevel": "BACKWARD"}
    assert wire.put(f"/config/{subject}", json={"compatibility": "FULL"}).json() == {"compatibility": "FULL"}
    assert wire.get(f"/config/{subject}").json() == {"compatibilityLevel": "FULL"}


def test_8_what_was_written_is_read_at_once(wire: httpx2.Client, subject: str) -> None:
    for number in range(20):
        schema = RECORD.replace('"R"', f'"R{number}"')
        schema_id = register(wire, f"{subject}{number}", schema)["id"]
        register(wire, f"{subject}{number}-b", schema)
        holders = wire.get(f"/schemas/ids/{schema_id}/versions").json()
        assert [one["subject"] for one in holders] == [f"{subject}{number}", f"{subject}{number}-b"]
        for one in holders:
            assert wire.get(f"/subjects/{one['subject']}/versions/{one['version']}").json()["id"] == schema_id
            assert wire.get(f"/subjects/{one['subject']}/versions").json() == [1]


def test_9_schemas_without_a_type_are_avro_and_spaces_make_no_other(wire: httpx2.Client, subject: str) -> None:
    first = register(wire, subject)
    assert first["schemaType"] == "AVRO"
    for text in (RECORD.replace(" ", ""), json.dumps(json.loads(RECORD), indent=8), RECORD.replace(":", " : ")):
        assert register(wire, subject, text)["id"] == first["id"]
        assert register(wire, subject, text, schemaType="AVRO", references=[])["id"] == first["id"]
        assert wire.post(f"/subjects/{subject}", json={"schema": text}).json()["version"] == 1
    assert wire.get(f"/subjects/{subject}/versions").json() == [1]


@pytest.mark.parametrize("version", ["", "/latest", "/-1", "/1"])
def test_10_compatibility_is_asked_with_and_without_a_version(wire: httpx2.Client, subject: str, version: str) -> None:
    register(wire, subject)
    path = f"/compatibility/subjects/{subject}/versions{version}"
    assert wire.post(path, json={"schema": RECORD}).json() == {"is_compatible": True}
    assert wire.post(f"{path}?normalize=False&verbose=False", json={"schema": WIDER}).json() == {"is_compatible": False}
    told = wire.post(f"{path}?verbose=True&normalize=true", json={"schema": WIDER}).json()
    assert told["is_compatible"] is False
    assert told["messages"][-1] == "{validateFields: 'false', compatibility: 'BACKWARD'}"
    wire.put(f"/config/{subject}", json={"validateFields": True})
    told = wire.post(f"{path}?verbose=true", json={"schema": WIDER}).json()
    assert told["messages"][-1] == "{validateFields: 'true', compatibility: 'BACKWARD'}"


def test_11_errors_are_the_reference_s_to_the_letter(wire: httpx2.Client, subject: str) -> None:
    def answer(method: str, path: str, schema: str | None = None) -> tuple[int, list[str], int, str]:
        found = wire.request(method, path, **({} if schema is None else {"json": {"schema": schema}}))
        body = found.json()
        return found.status_code, list(body), body["error_code"], body["message"]

    members = ["error_code", "message"]
    missing = f"Subject '{subject}' not found."
    assert answer("GET", f"/subjects/{subject}/versions/latest") == (404, members, 40401, missing)
    assert answer("POST", f"/subjects/{subject}", RECORD) == (404, members, 40401, missing)
    register(wire, subject)
    assert answer("GET", f"/subjects/{subject}/versions/9") == (404, members, 40402, "Version 9 not found.")
    assert answer("POST", f"/subjects/{subject}", WIDER) == (404, members, 40403, "Schema not found")
    assert answer("GET", "/schemas/ids/999999") == (404, members, 40403, "Schema 999999 not found")
    status, _, code, message = answer("POST", f"/subjects/{subject}/versions", WIDER)
    head = f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: ['
    assert (status, code, message[: len(head)]) == (409, 40901, head)


def test_12_protobuf_is_refused_cleanly_until_it_is_built(wire: httpx2.Client, subject: str) -> None:
    assert wire.get("/schemas/types").json() == ["JSON", "AVRO"]
    descriptor = base64.b64encode(b"\n\x07u.proto").decode()
    for text in ('syntax = "proto3"; message U {}', descriptor):
        answer = wire.post(f"/subjects/{subject}/versions", json={"schema": text, "schemaType": "PROTOBUF"})
        assert (answer.status_code, answer.json()["error_code"]) == (422, 42201)
        assert "Invalid schema type PROTOBUF" in answer.json()["message"]


def test_these_are_all_twelve() -> None:
    source = Path(__file__).read_text()
    assert all(f"def test_{number}_" in source for number in range(1, 13))
