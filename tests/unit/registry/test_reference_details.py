"""Details of responses in which third-party tests found differences from the reference."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

AVRO = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})
JSON = {"schemaType": "JSON"}
NULL_REQUESTS: list[dict[str, Any]] = [{}, {"requests": None}, {"requests": []}]


def refused(answer: httpx2.Response) -> tuple[int, int]:
    return answer.status_code, answer.json()["error_code"]


def register(http: httpx2.Client, subject: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = http.post(f"/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def referencing(subject: str) -> list[dict[str, Any]]:
    return [{"name": "r", "subject": subject, "version": 1}]


def test_a_reference_to_a_schema_of_another_type_is_refused(http: httpx2.Client) -> None:
    register(http, "avro", {"schema": AVRO})
    register(http, "json", {"schema": '{"type":"string"}', **JSON})
    candidates = {
        "j": {"schema": '{"type":"object"}', **JSON, "references": referencing("avro")},
        "a": {"schema": AVRO, "references": referencing("json")},
    }
    for subject, body in candidates.items():
        for path in ("/subjects/{}/versions", "/compatibility/subjects/{}/versions"):
            answer = http.post(path.format(subject), json=body)
            assert refused(answer) == (422, 42201)
            assert "can only reference schemas of its own type" in answer.json()["message"]
        assert refused(http.get(f"/subjects/{subject}/versions")) == (404, 40401)
    http.put("/mode/j", json={"mode": "IMPORT"})
    assert refused(http.post("/subjects/j/versions", json=candidates["j"] | {"id": 9, "version": 1})) == (422, 42201)
    http.put("/config/a", json={"validateNewSchemas": False})
    assert refused(http.post("/subjects/a/versions", json=candidates["a"])) == (422, 42201)


@pytest.mark.parametrize("body", [{}, {"schema": ""}, {"schema": None}, {"schema": " "}])
def test_a_look_up_without_a_schema_finds_nothing(http: httpx2.Client, body: dict[str, Any]) -> None:
    register(http, "s", {"schema": AVRO})
    assert refused(http.post("/subjects/s", json=body)) == (404, 40403)
    assert refused(http.post("/subjects/unknown", json=body)) == (404, 40401)
    assert refused(http.post("/subjects/:.eu:s", json=body)) == (404, 40401)
    both = {"schemas": [{"subject": "s", **body}, {"subject": "unknown", **body}]}
    found = http.post("/contractlog/v1/lookup", json=both).json()["results"]
    assert [one["error_code"] for one in found] == [40403, 40401]
    http.delete("/subjects/s")
    assert refused(http.post("/subjects/s", json=body)) == (404, 40401)
    assert refused(http.post("/subjects/s?deleted=true", json=body)) == (404, 40403)


def test_only_deleted_versions_of_a_subject_with_live_ones_alone_are_an_empty_list(http: httpx2.Client) -> None:
    register(http, "s", {"schema": '"string"'})
    for query in ("deletedOnly=true", "deleted_only=true", "deletedOnly=true&deleted=true&offset=3"):
        answer = http.get(f"/subjects/s/versions?{query}")
        assert (answer.status_code, answer.json()) == (200, [])
    assert refused(http.get("/subjects/unknown/versions?deletedOnly=true")) == (404, 40401)
    http.delete("/subjects/s")
    assert http.get("/subjects/s/versions?deletedOnly=true").json() == [1]
    assert refused(http.get("/subjects/s/versions")) == (404, 40401)


@pytest.mark.parametrize("body", NULL_REQUESTS)
@pytest.mark.parametrize("operation", ["batchGet", "batchMutate"])
def test_a_batch_without_requests_is_refused(http: httpx2.Client, operation: str, body: dict[str, Any]) -> None:
    answer = http.post(f"/associations:{operation}", json=body)
    assert refused(answer) == (422, 42212)
    told = "The association specified an invalid value for property: 'requests', detail: cannot be null or empty"
    assert answer.json()["message"] == told


def test_values_of_all_contexts_are_shown_for_the_default_context_only_on_request(
    http: httpx2.Client,
) -> None:
    http.put("/config/:.__GLOBAL:", json={"compatibility": "FULL", "normalize": True})
    http.put("/mode/:.__GLOBAL:", json={"mode": "READONLY"})
    for name in ("/config", "/config/:.:"):
        assert http.get(name).json() == {"compatibilityLevel": "BACKWARD"}
        assert http.get(f"{name}?defaultToGlobal=false").json() == {"compatibilityLevel": "BACKWARD"}
        inherited = http.get(f"{name}?defaultToGlobal=true").json()
        assert inherited == {"compatibilityLevel": "FULL", "normalize": True}
    for name in ("/mode", "/mode/:.:"):
        assert http.get(name).json() == {"mode": "READWRITE"}
        assert http.get(f"{name}?defaultToGlobal=true").json() == {"mode": "READONLY"}
    http.delete("/mode/:.__GLOBAL:")
    http.put("/config", json={"validateFields": True})
    assert http.get("/config").json() == {"validateFields": True, "compatibilityLevel": "BACKWARD"}
    assert http.delete("/config").json() == {"validateFields": True, "compatibilityLevel": "BACKWARD"}


@pytest.mark.parametrize("name", ["avro", "Avro", "json", "Json", "protobuf"])
def test_the_type_of_a_schema_is_case_sensitive(http: httpx2.Client, name: str) -> None:
    body = {"schema": '{"type":"string"}', "schemaType": name}
    for path in ("/subjects/s/versions", "/subjects/s", "/compatibility/subjects/s/versions"):
        answer = http.post(path, json=body)
        assert refused(answer) == (422, 42201)
        assert name in answer.json()["message"]


@pytest.mark.parametrize("number", ["99999999999999999999", "2147483648", "-2147483649", "9" * 5000])
def test_an_id_of_more_than_32_bits_is_404(http: httpx2.Client, number: str) -> None:
    paths = ["", "/schema", "/subjects", "/versions"]
    for path in paths:
        assert refused(http.get(f"/schemas/ids/{number}{path}")) == (404, 404)
    assert refused(http.get("/schemas/ids/2147483647")) == (404, 40403)


def test_a_negative_zero_in_a_json_schema_is_zero(http: httpx2.Client) -> None:
    text = '{"minimum":-0.0,"maximum":-0,"enum":[-0.00,-0e5,-0E-3,-1.0]}'
    found = register(http, "s", {"schema": text, **JSON})
    assert found["schema"] == '{"minimum":0.0,"maximum":0,"enum":[0.00,0E+5,0.000,-1.0]}'
    assert register(http, "s", {"schema": text.replace("-0", "0"), **JSON})["version"] == 1


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-8-sig"]
)
def test_a_body_is_read_in_each_encoding_of_unicode(http: httpx2.Client, encoding: str) -> None:
    body = json.dumps({"schema": json.dumps({"type": "object", "title": "Größe"}), **JSON}, ensure_ascii=False)
    charset = encoding.removesuffix("-sig")
    headers = {"Content-Type": f"application/vnd.schemaregistry.v1+json; charset={charset}"}
    content = body.encode(encoding)
    for path in ("/subjects/s/versions", "/subjects/s/versions?force=false", "/subjects/s"):
        answer = http.post(path, content=content, headers=headers)
        assert answer.status_code == 200, answer.text
        assert json.loads(answer.json()["schema"])["title"] == "Größe"
    cut = http.post("/subjects/s/versions", content=content[:-1] + b"\xff", headers=headers)
    assert refused(cut) == (400, 400)


@pytest.mark.parametrize("schema", [{"schema": '"string"'}, {"schema": '{"type":"string"}', **JSON}])
def test_a_compatible_schema_has_an_empty_list_of_messages_where_they_are_requested(
    http: httpx2.Client, schema: dict[str, Any]
) -> None:
    register(http, "s", schema)
    register(http, "none", schema)
    http.put("/config/none", json={"compatibility": "NONE"})
    paths = ["s/versions/latest", "s/versions/1", "s/versions", "unknown/versions/latest", "none/versions"]
    for path in (*paths, "unknown/versions", "none/versions/latest", "none/versions/1"):
        url = f"/compatibility/subjects/{path}"
        assert http.post(f"{url}?verbose=true", json=schema).content == b'{"is_compatible":true,"messages":[]}'
        assert http.post(url, json=schema).content == b'{"is_compatible":true}'
    other = {"schema": '"long"'} if "schemaType" not in schema else {"schema": '{"type":"integer"}', **JSON}
    assert list(http.post("/compatibility/subjects/s/versions", json=other).json()) == ["is_compatible"]
    assert http.post("/compatibility/subjects/s/versions?verbose=true", json=other).json()["messages"]
