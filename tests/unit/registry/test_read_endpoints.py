"""Read endpoints: filters, pages, formats, tags, aliases, contexts and cached responses."""

from __future__ import annotations

import gzip
import json
import re
from typing import Any

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.registry import in_process

STRING, LONG, INT = '"string"', '"long"', '"int"'
RECORD = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})
WIDER = RECORD.replace("}]}", '}, {"name": "y", "type": "long", "default": 0}]}')
LEANING = json.dumps(
    {"type": "record", "name": "L", "fields": [{"name": "r", "type": "R"}, {"name": "s", "type": "R"}]}
)
ON_RECORD: dict[str, Any] = {"references": [{"name": "R", "subject": "r", "version": 1}]}
CEL = {"domainRules": [{"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}


def register(http: httpx2.Client, subject: str, schema: str = RECORD, **members: Any) -> dict[str, Any]:
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": schema, **members})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def shown(http: httpx2.Client, path: str) -> list[tuple[str, int]]:
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    return [(one["subject"], one["version"]) for one in answer.json()]


@pytest.fixture
def many(http: httpx2.Client) -> httpx2.Client:
    http.put("/config", json={"compatibility": "NONE"})
    for schema in (STRING, LONG, INT):
        register(http, "a", schema)
    register(http, "b", metadata={"properties": {"owner": "me"}})
    register(http, ":.eu:a")
    register(http, "c", LONG, ruleSet=CEL)
    register(http, "gone")
    http.delete("/subjects/a/versions/2")
    http.delete("/subjects/gone")
    return http


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [("a", 1), ("a", 3), ("b", 1), ("c", 1)]),
        ("?deleted=true", [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("c", 1), ("gone", 1)]),
        ("?latestOnly=true", [("a", 3), ("b", 1), ("c", 1)]),
        ("?latestOnly=TRUE&deleted=True&subjectPrefix=g", [("gone", 1)]),
        ("?subjectPrefix=:*:a", [(":.eu:a", 1), ("a", 1), ("a", 3)]),
        ("?subjectPrefix=:.eu:", [(":.eu:a", 1)]),
        ("?subjectPrefix=:.e", [(":.eu:a", 1)]),
        ("?subjectPrefix=:.eu:b", []),
        ("?subjectPrefix=%00", []),
        ("?ruleType=CEL", [("c", 1)]),
        ("?ruleType=ENCRYPT", []),
        ("?ruleType=CEL&offset=1", []),
        (f"?ruleType=CEL&offset={2**63}&limit={2**31 - 1}", []),
        ("?offset=1&limit=2", [("a", 3), ("b", 1)]),
        ("?limit=0", [("a", 1), ("a", 3), ("b", 1), ("c", 1)]),
        ("?limit=100000&offset=", [("a", 1), ("a", 3), ("b", 1), ("c", 1)]),
        ("?offset=3000000000", []),
    ],
)
def test_schemas_are_listed_with_filters_and_pages(
    many: httpx2.Client, query: str, found: list[tuple[str, int]]
) -> None:
    assert shown(many, f"/schemas{query}") == found


def test_all_schemas_of_a_context_are_listed_with_its_prefix(many: httpx2.Client) -> None:
    assert shown(many, "/contexts/.eu/schemas") == [(":.eu:a", 1)]
    assert shown(many, "/contexts/:.:/schemas?subjectPrefix=b") == [("b", 1)]


def test_a_listed_schema_is_the_version_itself(many: httpx2.Client) -> None:
    assert many.get("/schemas?subjectPrefix=b").json() == [many.get("/subjects/b/versions/1").json()]


def test_no_page_of_schemas_is_longer_than_a_thousand(http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "NONE"})
    for number in range(1_002):
        register(http, f"s{number:04}", STRING)
    for limit in ("", "?limit=-1", "?limit=1001", "?limit=1000"):
        assert len(http.get(f"/schemas{limit}").json()) == 1_000
    assert shown(http, "/schemas?offset=1000") == [("s1000", 1), ("s1001", 1)]
    assert len(http.get("/subjects").json()) == 1_002
    assert http.get("/subjects?offset=1000&limit=1").json() == ["s1000"]


def test_subjects_are_sorted_as_texts_whatever_their_context(many: httpx2.Client) -> None:
    for subject in ("Z", "1", ";", "é", "\U0001f600"):
        register(many, subject)
    assert many.get("/subjects").json() == sorted(["1", ":.eu:a", ";", "Z", "a", "b", "c", "é", "\U0001f600"])
    assert many.get("/subjects?deleted_only=True").json() == ["gone"]
    assert many.get("/subjects?subjectPrefix=:*:gone&deletedOnly=true").json() == ["gone"]


def test_the_aliases_of_a_subject_are_shown_and_followed(http: httpx2.Client) -> None:
    register(http, "orders")
    register(http, ":.eu:orders", LONG)
    set_alias(http, "old", "orders")
    set_alias(http, ":.eu:old", "orders")
    set_alias(http, "older", "old")
    assert http.get("/subjects/old/versions").json() == [1]
    assert http.get("/subjects/old/versions/latest").json()["subject"] == "orders"
    assert http.get("/subjects/old/versions/1").json()["subject"] == "orders"
    assert http.get("/subjects/:.eu:old/versions/1").json()["schema"] == LONG
    assert http.get("/contexts/.eu/subjects/old/versions/latest").json()["subject"] == ":.eu:orders"
    assert http.get("/subjects/old/versions/1/schema").json() == json.loads(RECORD)
    assert http.get("/schemas/ids/1?subject=old").json()["subject"] == "orders"
    assert http.get("/subjects/older/versions").json()["message"] == "Subject 'old' not found."  # one hop
    assert http.get("/config/old").json()["alias"] == "orders"  # not followed here, so that it can be changed
    assert http.get("/config/orders").json()["error_code"] == 40408
    assert http.post("/subjects/old", json={"schema": RECORD}).json()["subject"] == "orders"
    assert register(http, "old", WIDER)["version"] == 2
    assert http.get("/subjects/orders/versions").json() == [1, 2]
    assert http.delete("/subjects/old/versions/2").json() == 2
    assert http.post("/compatibility/subjects/old/versions/1", json={"schema": RECORD}).json() == {
        "is_compatible": True
    }
    assert http.get("/schemas?aliases=true&subjectPrefix=ol").json()[0]["aliases"] == ["old"]
    assert shown(http, "/schemas?subjectPrefix=ol") == []


def set_alias(http: httpx2.Client, subject: str, alias: str | None) -> None:
    answer = http.put(f"/config/{subject}", json={"alias": alias})
    assert answer.status_code == 200, answer.text


def test_an_alias_holds_at_once_for_answers_from_memory_too(http: httpx2.Client) -> None:
    register(http, "a")
    register(http, "b")
    assert [http.get("/schemas/ids/1?subject=a").json()["subject"] for _ in "12"] == ["a", "a"]
    set_alias(http, "a", "b")
    assert [http.get("/schemas/ids/1?subject=a").json()["subject"] for _ in "12"] == ["b", "b"]
    set_alias(http, "a", None)
    assert http.get("/schemas/ids/1?subject=a").json()["subject"] == "a"


def test_an_unqualified_subject_is_looked_up_in_all_contexts(http: httpx2.Client) -> None:
    register(http, "filler", STRING)
    register(http, ":.us:only", LONG)
    register(http, ":.eu:only", RECORD)
    found = http.get("/subjects/only/versions/latest").json()
    assert (found["subject"], found["id"]) == (":.eu:only", 1)
    assert http.get("/subjects/only/versions/1").json() == found
    assert http.post("/subjects/only", json={"schema": LONG}).json()["subject"] == ":.us:only"
    assert http.post("/subjects/only", json={"schema": INT}).json()["error_code"] == 40401
    assert http.get("/schemas/ids/1?subject=only").json()["subject"] == ":.eu:only"
    assert http.get("/schemas/ids/1?subject=nobody").json()["subject"] == "filler"
    assert http.get("/schemas/ids/1?subject=:.eu:nobody").json()["error_code"] == 40403
    assert http.get("/schemas/ids/1/subjects?subject=only").json() == [":.eu:only"]
    assert http.get("/subjects/only/versions/2").json()["message"] == "Subject 'only' not found."
    assert http.get("/subjects/:.xx:only/versions/1").json()["error_code"] == 40401


def test_the_newest_version_with_properties_is_found(http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "NONE"})
    for schema, properties in ((STRING, {"a": "1"}), (LONG, {"a": "1", "b/c": "2 3"}), (INT, {"a": "2"})):
        register(http, "s", schema, metadata={"properties": properties})
    register(http, "plain")

    def version(query: str) -> Any:
        body = http.get(f"/subjects/s/metadata{query}").json()
        return body.get("version") or body["error_code"]

    assert version("?key=a&value=1") == 2
    assert version("?key=a&value=2") == 3
    assert version("?key=a&value=1&key=b%2Fc&value=2%203") == 2
    assert version("?key=b%252Fc&value=2%25203") == 2  # as Python's client encodes
    assert version("?key=a&value=1&key=extra") == 2
    assert version("?key=a&value=3") == 40403
    assert version("") == 3
    http.delete("/subjects/s/versions/2")
    assert version("?key=a&value=1") == 1
    assert version("?key=a&value=1&deleted=true") == 2
    assert http.get("/subjects/plain/metadata").json() == {"error_code": 40403, "message": "Schema not found"}
    assert http.get("/subjects/nobody/metadata").json() == {
        "error_code": 40401,
        "message": "Subject 'nobody' not found.",
    }


def test_the_same_id_in_another_context_is_another_schema(http: httpx2.Client) -> None:
    register(http, "r", metadata={"properties": {"owner": "us"}})
    register(http, "l", LEANING, **ON_RECORD)
    for schema in (STRING, LONG):
        register(http, f":.eu:{schema}", schema, metadata={"properties": {"owner": "eu"}})
    assert http.get("/subjects/r/metadata?key=owner&value=us").json()["version"] == 1
    assert http.get("/subjects/r/metadata?key=owner&value=eu").json()["error_code"] == 40403
    assert http.get("/subjects/r/versions/1/referencedby").json() == [2]
    http.delete("/subjects/l")
    assert http.get("/subjects/r/versions/1/referencedby").json() == []


def test_resolved_is_the_text_with_its_references_in_place(http: httpx2.Client) -> None:
    register(http, "r")
    register(http, "l", LEANING, **ON_RECORD)
    inlined = json.loads(LEANING)
    inlined["fields"][0]["type"] = json.loads(RECORD)
    for path in ("/subjects/l/versions/1?format=resolved", "/schemas/ids/2?format=resolved"):
        assert json.loads(http.get(path).json()["schema"]) == inlined
    for path in ("/subjects/l/versions/1/schema?format=resolved", "/schemas/ids/2/schema?format=resolved"):
        assert http.get(path).json() == inlined
    guid = http.get("/subjects/l/versions/1").json()["guid"]
    assert json.loads(http.get(f"/schemas/guids/{guid}?format=resolved").json()["schema"]) == inlined
    for unknown in ("serialized", "ignore_extensions", "nonsense"):
        assert json.loads(http.get(f"/schemas/ids/2?format={unknown}").json()["schema"]) == json.loads(LEANING)


def test_registering_and_looking_up_answer_in_the_format_asked_for(http: httpx2.Client) -> None:
    register(http, "r")
    body = {"schema": LEANING, **ON_RECORD}
    inlined = json.loads(LEANING)
    inlined["fields"][0]["type"] = json.loads(RECORD)
    first, again = (http.post("/subjects/l/versions?format=resolved", json=body).json() for _ in range(2))
    stored = http.get("/subjects/l/versions/1").json()
    found = http.post("/subjects/l?format=resolved", json=body).json()
    assert stored["schema"] == http.post("/subjects/l?format=nonsense", json=body).json()["schema"]
    for answer in (first, again, found):
        assert json.loads(answer["schema"]) == inlined
        assert (answer["id"], answer["version"], answer["guid"]) == (stored["id"], 1, stored["guid"])


def test_tags_in_the_text_are_found(http: httpx2.Client) -> None:
    tagged = json.loads(RECORD) | {"namespace": "n", "confluent:tags": ["T1"]}
    tagged["fields"][0]["confluent:tags"] = ["T2", "T3"]
    register(http, "avro", json.dumps(tagged))
    text = {"type": "object", "properties": {"a": {"type": "string", "confluent:tags": ["PII"]}}}
    register(http, "json", json.dumps(text), schemaType="JSON")

    def entity(path: str, kind: str, *tags: str) -> dict[str, Any]:
        return {"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": list(tags)}

    both = [entity("n.R", "sr_record", "T1"), entity("n.R.x", "sr_field", "T2", "T3")]
    for path in ("/subjects/avro/versions/1", "/schemas/ids/1"):
        assert http.get(f"{path}?findTags=*").json()["schemaTags"] == both
        assert http.get(f"{path}?findTags=T3&findTags=none").json()["schemaTags"] == both[1:]
        assert "schemaTags" not in http.get(f"{path}?findTags=none").json()
        assert "schemaTags" not in http.get(path).json()
    found = http.get("/subjects/json/versions/1?findTags=*").json()["schemaTags"]
    assert found == [entity("object.a", "sr_field", "PII")]


def test_contexts_are_listed_by_prefix_and_page_and_go_when_they_are_empty(http: httpx2.Client) -> None:
    for context in (".eu", ".eu-west", ".us"):
        register(http, f":{context}:s")
    assert http.get("/contexts?contextPrefix=.eu").json() == [".eu", ".eu-west"]
    assert http.get("/contexts?offset=1&limit=2").json() == [".eu", ".eu-west"]
    refused = http.delete("/contexts/.eu")
    assert refused.json() == {"error_code": 42211, "message": "The specified context ':.eu:' is not empty."}
    http.delete("/subjects/:.eu:s")
    assert http.delete("/contexts/:.eu:").json()["error_code"] == 42211  # soft-deleted versions are still there
    http.delete("/subjects/:.eu:s?permanent=true")
    gone = http.delete("/contexts/.eu/")
    assert (gone.status_code, gone.content) == (204, b"")
    assert http.get("/contexts").json() == [".", ".eu-west", ".us"]
    assert http.delete("/contexts/.eu").status_code == 204
    assert http.delete("/contexts/nobody").status_code == 204
    assert http.delete("/contexts/a:b").status_code == 400
    assert register(http, ":.eu:s")["id"] == 2  # ids never come back
    assert http.get("/contexts").json() == [".", ".eu", ".eu-west", ".us"]
    http.delete("/subjects/:.eu:s")
    http.delete("/subjects/:.eu:s?permanent=true")
    assert http.get("/contexts").json() == [".", ".eu", ".eu-west", ".us"]  # until it is deleted again


def test_a_read_only_context_is_not_deleted(http: httpx2.Client) -> None:
    http.put("/mode/:.eu:", json={"mode": "READONLY"})
    assert http.delete("/contexts/.eu").json() == {
        "error_code": 42205,
        "message": "Subject :.eu: in context .eu is in read-only mode",
    }


def test_a_response_by_id_names_the_earliest_live_version_else_the_earliest_deleted_one(http: httpx2.Client) -> None:
    for subject in ("c", "a", "b"):
        register(http, subject)

    def held() -> tuple[str, bool]:
        first, second = (http.get("/schemas/ids/1").json() for _ in "12")
        assert first == second
        return first["subject"], first["deleted"]

    assert held() == ("c", False)
    http.delete("/subjects/c")
    assert held() == ("a", False)
    http.delete("/subjects/a")
    http.delete("/subjects/b")
    assert held() == ("c", True)
    http.delete("/subjects/c?permanent=true")
    assert held() == ("a", True)
    register(http, "b")
    assert held() == ("b", False)


FORMS = [
    "",
    "?subject=",
    "?fetchMaxId=false&subject=",
    "?subject=s%2Fv",
    "?fetchMaxId=false&subject=s/v",
    "?deleted=true",
]


@pytest.mark.parametrize("query", FORMS)
def test_answers_from_memory_are_the_route_s_own(http: httpx2.Client, query: str) -> None:
    register(http, "first")
    register(http, "s%2Fv")
    by_route = http.get(f"/schemas/ids/1{query}")
    assert hits(http) == 0
    by_memory = http.get(f"/schemas/ids/1{query}")
    assert hits(http) == 1
    assert by_memory.content == by_route.content
    headers = [{k: v for k, v in one.headers.items() if k != "x-request-id"} for one in (by_route, by_memory)]
    assert headers[0] == headers[1]
    assert by_route.json()["subject"] == ("s/v" if "v" in query.rpartition("subject=")[2] else "first")


@pytest.mark.parametrize("query", ["?fetchMaxId=TRUE", "?format=resolved", "?findTags=*", "?referenceFormat=qualified"])
def test_other_forms_are_never_answered_from_memory(http: httpx2.Client, query: str) -> None:
    register(http, "s")
    for _ in "123":
        http.get(f"/schemas/ids/1{query}")
    assert hits(http) == 0


def hits(http: httpx2.Client) -> float:
    return float(re.search(r"^contractlog_cache_hits_total (\S+)$", http.get("/metrics").text, re.MULTILINE)[1])  # type: ignore[index]


def test_latest_is_what_its_number_is(http: httpx2.Client) -> None:
    register(http, "a%2Fb")
    for path in ("latest", "-1", "latest/", "LATEST", "latest?deleted=true"):
        answer = http.get(f"/subjects/a%2Fb/versions/{path}")
        assert answer.content == http.get("/subjects/a%2Fb/versions/1").content
        assert answer.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    assert http.get("/subjects/%ff/versions/latest").status_code == 400
    assert http.get("/subjects/a%00/versions/latest").json()["error_code"] == 42208


def test_holders_and_references_come_in_pages(http: httpx2.Client) -> None:
    register(http, "r")
    for number in range(5):
        register(http, f"l{number}", LEANING.replace('"L"', f'"L{number}"'), **ON_RECORD)
        register(http, f"s{number}")
    assert http.get("/subjects/r/versions/1/referencedby?offset=1&limit=2").json() == [3, 4]
    assert http.get("/subjects/r/versions/latest/referencedby").json() == [2, 3, 4, 5, 6]
    assert http.get("/schemas/ids/1/subjects?offset=1&limit=2").json() == ["s0", "s1"]
    assert shown(http, "/schemas/ids/1/versions?offset=4&limit=-1") == [("s3", 1), ("s4", 1)]
    http.delete("/subjects/l0")
    assert http.get("/subjects/r/versions/1/referencedby").json() == [3, 4, 5, 6]
    assert http.get("/subjects/r/versions/1/referencedby?deleted=true").json() == [2, 3, 4, 5, 6]
    assert http.get("/subjects/r/versions/2/referencedby").json()["error_code"] == 40402


@pytest.mark.parametrize(
    ("profile", "registered", "version", "by_id"),
    [
        ("8", "id version guid schemaType schema", "subject version id guid schemaType schema ts deleted",
         "subject version guid schemaType schema ts deleted"),
        ("7.6", "id version schema", "subject version id schema", "schema"),
        ("5.5", "id", "subject version id schema", "schema"),
    ],
)  # fmt: skip
def test_answers_have_the_members_of_the_release_that_is_set(
    profile: str, registered: str, version: str, by_id: str
) -> None:
    settings = Settings.from_environment({"CONTRACTLOG_RESPONSE_PROFILE": profile}, database_url="sqlite://")
    with in_process(settings) as http:
        assert list(register(http, "s")) == registered.split()
        for path in ("/subjects/s/versions/1", "/subjects/s/versions/latest"):
            assert list(http.get(path).json()) == version.split()
        assert list(http.post("/subjects/s", json={"schema": RECORD}).json()) == version.split()
        for _ in "12":
            assert list(http.get("/schemas/ids/1").json()) == by_id.split()
        text = register(http, "j", '{"type":"object"}', schemaType="JSON", metadata={"properties": {"a": "b"}})
        assert ("metadata" in text) == (profile != "5.5")
        assert http.get("/schemas/ids/2").json()["schemaType"] == "JSON"


def test_the_old_conflict_code_is_a_setting() -> None:
    with in_process(Settings(database_url="sqlite://", old_conflict_code=True)) as http:
        register(http, "s", STRING)
        refused = http.post("/subjects/s/versions", json={"schema": LONG})
        assert (refused.status_code, refused.json()["error_code"]) == (409, 409)
        assert refused.json()["message"].startswith("Schema being registered is incompatible")


def test_the_service_names_its_clusters() -> None:
    settings = Settings(database_url="sqlite://", cluster_id="mine", kafka_cluster_id="k1")
    with in_process(settings) as http:
        clusters = {"kafka-cluster": "k1", "schema-registry-cluster": "mine"}
        assert http.get("/v1/metadata/id").json() == {"id": "", "scope": {"path": [], "clusters": clusters}}
        assert http.get("/v1/metadata/deployment").json() == {"attributes": []}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["/exporters", "/catalog"])
def test_endpoints_missing_in_the_open_reference_are_not_found(http: httpx2.Client, method: str, path: str) -> None:
    answer = http.request(method, path)
    assert (answer.status_code, answer.json()) == (404, {"error_code": 404, "message": "HTTP 404 Not Found"})


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json", "application/xml"])
def test_a_body_declared_as_another_type_than_json_is_rejected(http: httpx2.Client, kind: str) -> None:
    answer = http.post("/subjects/s/versions", content=b"{}", headers={"Content-Type": kind})
    told = "HTTP 415 Unsupported Media Type: send JSON, with the header Content-Type: application/json"
    assert answer.json() == {"error_code": 415, "message": told}
    assert answer.status_code == 415


@pytest.mark.parametrize("path", ["/subjects/s/versions", "/contractlog/v1/lookup", "/contractlog/v1/import"])
@pytest.mark.parametrize("encoding", ["gzip", "GZip", "br, gzip"])
def test_a_compressed_body_is_refused_by_its_encoding(http: httpx2.Client, path: str, encoding: str) -> None:
    body, kind = gzip.compress(b'{"schema":"\\"int\\""}'), "application/json"
    answer = http.post(path, content=body, headers={"Content-Type": kind, "Content-Encoding": encoding})
    told = f"HTTP 415 Unsupported Media Type: send the body uncompressed, without Content-Encoding: {encoding}"
    assert answer.json() == {"error_code": 415, "message": told}
    assert answer.status_code == 415
    headers = {"Content-Type": kind, "Content-Encoding": "identity"}
    assert http.post("/subjects/s/versions", content=b'{"schema":"\\"int\\""}', headers=headers).status_code == 200


def test_answers_carry_the_headers_of_the_reference(http: httpx2.Client) -> None:
    for path in ("/subjects", "/nothing", "/schemas/ids/1"):
        headers = http.get(path, headers={"X-Request-ID": "mine"}).headers
        assert headers["x-request-id"] == "mine"
        assert headers["cache-control"] == "no-cache, no-store, must-revalidate"
        assert headers["x-xss-protection"] == "1; mode=block"


def test_a_check_tells_of_reserved_fields_where_they_are_validated(http: httpx2.Client) -> None:
    reserved = {"properties": {"confluent:reserved": "y"}}
    register(http, "s", metadata=reserved)
    http.put("/config/s", json={"validateFields": True})
    using = json.dumps(
        {
            "type": "record",
            "name": "R",
            "fields": [{"name": "x", "type": "long"}, {"name": "y", "type": "long", "default": 0}],
        }
    )
    path = "/compatibility/subjects/s/versions?verbose=true"
    kept = http.post(path, json={"schema": using, "metadata": reserved}).json()
    assert kept == {
        "is_compatible": False,
        "messages": [
            "The new schema has field that conflicts with the reserved field y.",
            "{validateFields: 'true', compatibility: 'BACKWARD'}",
        ],
    }
    for versions in (path, "/compatibility/subjects/s/versions/1?verbose=true"):
        gone = http.post(versions, json={"schema": RECORD}).json()
        assert gone["messages"][0] == (
            "The new schema has reserved field y removed from its metadata which is present "
            "in the old schema's metadata."
        )
    assert http.post(path, json={"schema": RECORD, "metadata": reserved}).json()["messages"] == []


def test_schemas_are_listed_by_what_their_subjects_are_bound_to(http: httpx2.Client) -> None:
    for subject in ("bound", "free"):
        register(http, subject)
    bound = {"subject": "bound", "associationType": "value", "lifecycle": "WEAK"}
    resource = {"resourceName": "t", "resourceNamespace": "lkc", "resourceId": "r", "resourceType": "topic"}
    answer = http.post("/associations", json={**resource, "associations": [bound]})
    assert answer.status_code == 200, answer.text
    assert shown(http, "/schemas?lifecycle=WEAK") == [("bound", 1)]
    assert shown(http, "/schemas?lifecycle=none") == [("free", 1)]
    assert shown(http, "/schemas?lifecycle=NONE&lifecycle=WEAK") == [("bound", 1), ("free", 1)]
    assert shown(http, "/schemas?lifecycle=STRONG") == []
    assert shown(http, "/schemas?resourceType=topic&associationType=value") == [("bound", 1)]
    assert shown(http, "/schemas?associationType=key") == []
    assert shown(http, "/schemas?resourceType=%00") == []
    found = http.get("/schemas?lifecycle=WEAK").json()[0]["associations"]
    assert [(one["resourceId"], one["lifecycle"]) for one in found] == [("r", "WEAK")]
