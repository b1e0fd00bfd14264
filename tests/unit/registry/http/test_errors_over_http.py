"""Code, status and text of every error are the reference's."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from contractlog.registry.http.api_response import MEDIA_TYPE
from contractlog.registry.settings import Settings

from support.registry import in_process

STRING, LONG = '"string"', '"long"'
RECORD = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})
WIDER = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "string"}]})
LEANING = json.dumps({"type": "record", "name": "L", "fields": [{"name": "r", "type": "R"}]})
ON_RECORD = {"schema": LEANING, "references": [{"name": "R", "subject": "s", "version": 1}]}

REGISTER = ("POST", "/subjects/s/versions", {"schema": RECORD})
LEAN = ("POST", "/subjects/l/versions", ON_RECORD)
SOFT = ("DELETE", "/subjects/s", None)
SOFT_1 = ("DELETE", "/subjects/s/versions/1", None)
READONLY = ("PUT", "/mode/s", {"mode": "READONLY"})
NO_VERSION = (
    "The specified version '0' is not a valid version id. "
    'Allowed values are between [1, 2^31-1] and the string "latest"'
)
NO_LEVEL = (
    "Invalid compatibility level. Valid values are none, backward, forward, full, "
    "backward_transitive, forward_transitive, and full_transitive"
)

# fmt: off
CASES = [
    ([], ("GET", "/nothing", None), 404, "HTTP 404 Not Found"),
    ([], ("GET", "/subjects/s", None), 405, "HTTP 405 Method Not Allowed"),
    ([], ("PATCH", "/subjects/s", None), 405, "HTTP 405 Method Not Allowed"),
    ([], ("GET", "/schemas/ids/abc", None), 404, "HTTP 404 Not Found"),
    ([], ("GET", "/subjects?limit=ten", None), 404, "HTTP 404 Not Found"),
    ([], ("POST", "/subjects/s/versions", b""), 422, "The request has no body; a JSON object is needed"),
    ([], ("POST", "/subjects/s/versions", b"null"), 422, "The request has no body; a JSON object is needed"),
    ([], ("POST", "/subjects/s/versions", b"{"), 400, None),
    ([], ("POST", "/subjects/s/versions", b"\xff"), 400, None),
    ([], ("POST", "/subjects/s/versions", b"[" * 100_000), 400, None),
    ([], ("POST", "/subjects/s/versions", b"[1]"), 400, None),
    ([], ("POST", "/subjects/s/versions", {"schema": 1}), 400, None),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "metadata": {"tags": {"a": 5}}}), 400, None),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "ruleSet": {"domainRules": [3]}}), 400, None),
    ([], ("POST", "/subjects/s/versions", b'{"schema": "\\ud800"}'), 400, None),
    ([], ("GET", "/subjects/%ff/versions", None), 400, None),
    ([], ("GET", "/subjects/s/versions", None), 40401, "Subject 's' not found."),
    ([], ("GET", "/subjects/s/versions/1", None), 40401, "Subject 's' not found."),
    ([], ("GET", "/subjects/s/versions/latest/schema", None), 40401, "Subject 's' not found."),
    ([], ("DELETE", "/subjects/s", None), 40401, "Subject 's' not found."),
    ([], ("DELETE", "/subjects/s/versions/1", None), 40401, "Subject 's' not found."),
    ([], ("DELETE", "/config/s", None), 40401, "Subject 's' not found."),
    ([], ("DELETE", "/mode/s", None), 40401, "Subject 's' not found."),
    ([], ("POST", "/subjects/s", {"schema": STRING}), 40401, "Subject 's' not found."),
    ([REGISTER, SOFT], ("GET", "/subjects/s/versions", None), 40401, "Subject 's' not found."),
    ([REGISTER, SOFT_1], ("GET", "/subjects/s/versions/latest?deleted=true", None), 40401, "Subject 's' not found."),
    ([REGISTER], ("GET", "/subjects/s/versions/2", None), 40402, "Version 2 not found."),
    ([REGISTER], ("DELETE", "/subjects/s/versions/2", None), 40402, "Version 2 not found."),
    ([], ("POST", "/compatibility/subjects/s/versions/2", {"schema": STRING}), 40402, "Version 2 not found."),
    ([], ("GET", "/schemas/ids/7", None), 40403, "Schema 7 not found"),
    ([], ("GET", "/schemas/ids/7/schema", None), 40403, "Schema 7 not found"),
    ([], ("GET", "/schemas/ids/7/versions", None), 40403, "Schema 7 not found"),
    ([], ("GET", "/schemas/ids/-1", None), 40403, "Schema -1 not found"),
    ([], ("GET", f"/schemas/ids/{2**31 - 1}", None), 40403, f"Schema {2**31 - 1} not found"),
    ([], ("GET", f"/schemas/ids/{10**30}", None), 404, "HTTP 404 Not Found"),
    ([], ("GET", "/schemas/guids/nothing", None), 40403, "Schema nothing not found"),
    ([REGISTER], ("POST", "/subjects/s", {"schema": STRING}), 40403, "Schema not found"),
    ([REGISTER, SOFT], SOFT, 40404, "Subject 's' was soft deleted.Set permanent=true to delete permanently"),
    ([REGISTER], ("DELETE", "/subjects/s?permanent=true", None), 40405,
     "Subject 's' was not deleted first before being permanently deleted"),
    ([REGISTER, SOFT], SOFT_1, 40406,
     "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently"),
    ([REGISTER], ("DELETE", "/subjects/s/versions/1?permanent=true", None), 40407,
     "Subject 's' Version 1 was not deleted first before being permanently deleted"),
    ([], ("GET", "/config/s", None), 40408, "Subject 's' does not have subject-level compatibility configured"),
    ([], ("GET", "/mode/s", None), 40409, "Subject 's' does not have subject-level mode configured"),
    ([], ("GET", "/contractlog/v1/conformance/t", None), 40480, "No audit result of topic 't' was published."),
    ([REGISTER], ("POST", "/subjects/s/versions", {"schema": WIDER}), 40901, None),
    ([], ("POST", "/subjects/s/versions", {}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": "nonsense"}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "schemaType": "XML"}), 42201, "Invalid schema type XML"),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "version": 2}), 42201,
     "Version is not one more than previous version"),
    ([], LEAN, 42201, None),
    ([REGISTER, SOFT], LEAN, 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "references": [{}]}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": "[" * 10_000}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": '{"type":"array","items":' * 9_000}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": "[" * 10_000, "schemaType": "JSON"}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": '"\\ud800"'}), 42201, None),
    ([], ("POST", "/subjects/s/versions", {"schema": '{"title":"\\ud800"}', "schemaType": "JSON"}), 42201, None),
    ([], ("GET", "/subjects/s/versions/0", None), 42202,
     NO_VERSION),
    ([], ("GET", "/subjects/s/versions/2147483648", None), 42202, None),
    ([], ("GET", "/subjects/s/versions/-2", None), 42202, None),
    ([], ("GET", "/subjects/s/versions/one", None), 42202, None),
    ([], ("DELETE", "/subjects/s/versions/%E0%A5%A7", None), 42202, None),
    ([], ("POST", "/compatibility/subjects/s/versions/one", {"schema": STRING}), 42202, None),
    ([], ("PUT", "/config", {"compatibility": "SOME"}), 42203,
     NO_LEVEL),
    ([], ("PUT", "/mode", {"mode": "SOME"}), 42204,
     "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."),
    ([], ("POST", "/subjects/s/versions", {"schema": STRING, "id": 5}), 42205,
     "Subject s in context . is not in import mode"),
    ([READONLY], REGISTER, 42205, "Subject s in context . is in read-only mode"),
    ([READONLY], ("PUT", "/config/s", {"compatibility": "NONE"}), 42205, "Subject s in context . is in read-only mode"),
    ([REGISTER, READONLY], SOFT, 42205, "Subject s in context . is in read-only mode"),
    ([REGISTER, READONLY], SOFT_1, 42205, "Subject s in context . is in read-only mode"),
    ([REGISTER, LEAN], SOFT, 42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=1}."),
    ([REGISTER, LEAN], SOFT_1, 42206,
     "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=s,version=1}."),
    ([], ("POST", "/subjects/__GLOBAL/versions", {"schema": STRING}), 42208,
     "The specified subject '__GLOBAL' is not a valid."),
    ([], ("POST", "/subjects/:.eu:/versions", {"schema": STRING}), 42208,
     "The specified subject ':.eu:' is not a valid."),
    ([], ("POST", "/subjects/:.__GLOBAL:/versions", {"schema": STRING}), 42208, None),
    ([], ("POST", "/subjects/:.__GLOBAL:s/versions", {"schema": STRING}), 42208,
     "The specified subject ':.__GLOBAL:s' is not a valid."),
    ([("PUT", "/config/s", {"alias": ":.__GLOBAL:s"})], REGISTER, 42208, None),
    ([], ("POST", "/subjects/:.::.amb:x/versions", {"schema": STRING}), 42208,
     "The specified subject ':.amb:x' is not a valid."),
    ([("PUT", "/config/s", {"alias": ":.::.amb:x"})], REGISTER, 42208, None),
    ([], ("PUT", "/mode/:.::.amb:x", {"mode": "IMPORT"}), 42208, None),
    ([], ("POST", "/subjects/:*:/versions", {"schema": STRING}), 42208, None),
    ([], ("POST", "/subjects/:*:foo/versions", {"schema": STRING}), 42208, None),
    ([], ("POST", "/subjects/a%00b/versions", {"schema": STRING}), 42208, None),
    ([], ("POST", "/subjects/a%0Ab/versions", {"schema": STRING}), 42208, None),
    ([], ("GET", "/subjects/a%00b/versions", None), 42208, None),
    ([], ("PUT", "/config/__EMPTY", {"compatibility": "NONE"}), 42208, None),
    ([], ("POST", "/contractlog/v1/conformance/t", {"topic": "t"}), 42280, None),
]
# fmt: on


@pytest.mark.parametrize(("before", "request_", "code", "message"), CASES)
def test_an_error_has_its_code_its_status_and_its_text(
    http: httpx2.Client, before: list, request_: tuple, code: int, message: str | None
) -> None:
    for one in before:
        assert send(http, one).status_code == 200
    answer = send(http, request_)
    assert answer.status_code == int(str(code)[:3]), answer.text
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert answer.headers["x-request-id"]
    body = answer.json()
    assert list(body) == ["error_code", "message"]
    assert body["error_code"] == code, body
    assert body["message"]
    assert message in {None, body["message"]}


def send(http: httpx2.Client, request: tuple) -> httpx2.Response:
    method, path, body = request
    given = {"content": body} if isinstance(body, bytes) else {"json": body} if body is not None else {}
    return http.request(method, path, **given)


def test_a_body_over_the_limit_is_413_whether_it_says_so_or_not() -> None:
    with in_process(Settings(database_url="sqlite://", max_body_bytes=1_000)) as http:
        for announced in ("1001", "10"):
            headers = {"Content-Length": announced}
            answer = http.post("/subjects/s/versions", content=b"x" * 1_001, headers=headers)
            assert (answer.status_code, answer.json()["error_code"]) == (413, 413)
            assert "1000 bytes" in answer.json()["message"]
        assert http.post("/subjects/s/versions", json={"schema": STRING}).status_code == 200


def test_a_schema_of_5_mb_is_413(http: httpx2.Client) -> None:
    assert http.post("/subjects/s/versions", json={"schema": json.dumps("x" * 5_000_000)}).status_code == 413


def test_a_deleted_id_is_40403_for_ever_even_when_its_content_returns(http: httpx2.Client) -> None:
    assert http.post("/subjects/s/versions", json={"schema": RECORD}).json()["id"] == 1
    assert http.get("/schemas/ids/1").status_code == http.get("/schemas/ids/1").status_code == 200
    http.delete("/subjects/s")
    assert http.get("/schemas/ids/1").json()["deleted"] is True
    assert http.delete("/subjects/s?permanent=true").json() == [1]
    assert http.get("/schemas/ids/1").json()["error_code"] == 40403
    assert http.post("/subjects/s/versions", json={"schema": RECORD}).json() | {"guid": ""} == {
        "id": 2,
        "version": 1,
        "guid": "",
        "schemaType": "AVRO",
        "schema": json.dumps(json.loads(RECORD), separators=(",", ":")),
    }
    assert http.get("/schemas/ids/1").json()["error_code"] == 40403


def test_a_refusal_says_why_in_the_reference_s_words(http: httpx2.Client) -> None:
    http.post("/subjects/s/versions", json={"schema": RECORD})
    message = http.post("/subjects/s/versions", json={"schema": WIDER}).json()["message"]
    head = 'Schema being registered is incompatible with an earlier schema for subject "s", details: ['
    assert message.startswith(head)
    assert "{oldSchemaVersion: 1}" in message
    assert message.endswith("{validateFields: 'false', compatibility: 'BACKWARD'}]")


@pytest.mark.parametrize(
    ("kind", "schema", "told"),
    [
        ("AVRO", '{"type":"record"}', 'a type "record" needs a "name" (line 1, column 1)'),
        (
            "AVRO",
            '{"type":"record","name":"R",\n "fields":[{"name":"a","type":"nope"}]}',
            'the type "nope" is not defined (at /fields/0/type, line 2, column 31)',
        ),
        ("AVRO", '{"type"', "this is not JSON: Expecting ':' delimiter at line 1, column 8"),
        ("AVRO", '{"type":"x', "this is not JSON: Unterminated string starting at line 1, column 9"),
        ("JSON", '{"properties":\n{"a":{"type":"nope"}}}', " (at /properties/a/type, line 2, column 14)"),
    ],
)
def test_invalid_schemas_point_to_the_place(http: httpx2.Client, kind: str, schema: str, told: str) -> None:
    body = {"schema": schema, "schemaType": kind}
    begin = f"Invalid schema {{subject=s}} with refs [] of type {kind}, details: "
    for path in ("/subjects/s/versions", "/compatibility/subjects/s/versions"):
        message = http.post(path, json=body).json()["message"]
        assert message.startswith(begin)
        assert message.endswith(told)


def test_a_client_that_goes_before_its_body_came_is_no_failure_of_the_service(
    http: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A broken upload must not look like a mistake in the service: no 500, no traceback in the log."""
    path = "/subjects/s/versions"
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"content-length", b"90")],
    }
    came = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return came.pop(0) if came else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(http.app(scope, receive, send))  # type: ignore[attr-defined]
    assert sent[0]["status"] == 400
    assert not caplog.records
