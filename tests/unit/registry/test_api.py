"""Successful responses of the API: the reference's bodies, with its order of members."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from contractlog.registry.http.api_response import MEDIA_TYPE

STRING, LONG, INT = '"string"', '"long"', '"int"'
RECORD = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "long"}]})
LEANING = json.dumps({"type": "record", "name": "L", "fields": [{"name": "r", "type": "R"}]})
REFERENCE = {"name": "R", "subject": "r", "version": 1}
METADATA = {"tags": {"r.x": ["PII"]}, "properties": {"owner": "me"}, "sensitive": ["owner"]}
RULES = {
    "domainRules": [
        {"name": "n", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true", "disabled": False}
    ]
}


def register(http: httpx2.Client, subject: str, schema: str, query: str = "", **members: Any) -> dict[str, Any]:
    answer = http.post(f"/subjects/{subject}/versions{query}", json={"schema": schema, **members})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def test_a_registration_answers_with_everything_that_was_stored(http: httpx2.Client) -> None:
    register(http, "r", RECORD)
    found = register(http, "l", LEANING, references=[REFERENCE], metadata=METADATA, ruleSet=RULES)
    assert list(found) == ["id", "version", "guid", "schemaType", "references", "metadata", "ruleSet", "schema"]
    assert (found["id"], found["version"], found["schemaType"]) == (2, 1, "AVRO")
    assert found["references"] == [REFERENCE]
    assert found["metadata"] == METADATA
    assert found["ruleSet"] == RULES


def test_a_version_answers_with_its_members_in_order(http: httpx2.Client) -> None:
    register(http, "r", RECORD)
    register(http, "l", LEANING, references=[REFERENCE | {"version": -1}], metadata=METADATA, ruleSet=RULES)
    found = http.get("/subjects/l/versions/1").json()
    order = "subject version id guid schemaType references metadata ruleSet schema ts deleted"
    assert list(found) == order.split()
    assert found["references"] == [REFERENCE]
    assert found == http.get("/subjects/l/versions/latest").json() == http.get("/subjects/l/versions/-1").json()
    assert (
        found
        == http.post(
            "/subjects/l", json={"schema": LEANING, "references": [REFERENCE], "metadata": METADATA, "ruleSet": RULES}
        ).json()
    )
    by_id = http.get("/schemas/ids/2").json()
    assert list(by_id) == [name for name in found if name != "id"]
    assert by_id == {name: value for name, value in found.items() if name != "id"}
    by_guid = {name: value for name, value in by_id.items() if name not in {"subject", "version"}}
    assert http.get(f"/schemas/guids/{found['guid']}").json() == by_guid
    assert http.get(f"/schemas/guids/{found['guid'].replace('-', '').upper()}").json() == by_guid
    assert http.get(f"/schemas/guids/{found['guid']}/ids").json() == [{"context": ".", "id": 2}]
    assert http.get("/schemas/guids/00000000-0000-0000-0000-000000000000/ids").json() == []


def test_the_bare_text_of_a_schema_is_itself(http: httpx2.Client) -> None:
    register(http, "r", RECORD)
    for path in ("/subjects/r/versions/1/schema", "/schemas/ids/1/schema"):
        answer = http.get(path)
        assert answer.json() == json.loads(RECORD)
        assert answer.headers["content-type"] == MEDIA_TYPE


def test_registering_again_changes_nothing(http: httpx2.Client) -> None:
    first = register(http, "s", RECORD)
    assert register(http, "s", RECORD) == first
    assert register(http, "s", json.dumps(json.loads(RECORD), indent=4)) == first
    assert register(http, "s", RECORD, id=1) == first
    assert register(http, "s", RECORD, version=1) == first
    latest = register(http, "s", RECORD, version=-1)
    assert list(latest)[-2:] == ["ts", "deleted"]  # it is shown as it is stored
    assert {name: latest[name] for name in first} == first
    assert http.get("/subjects/s/versions").json() == [1]


def test_metadata_and_rules_are_part_of_what_a_schema_is(http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "NONE"})
    ids = [
        register(http, "s", RECORD)["id"],
        register(http, "s", RECORD, metadata=METADATA)["id"],
        register(http, "s", RECORD, ruleSet=RULES)["id"],
        register(http, "t", RECORD, metadata=METADATA)["id"],
    ]
    assert ids == [1, 2, 3, 2]


def test_a_schema_type_is_part_of_what_a_schema_is(http: httpx2.Client) -> None:
    text = '{"type": "object"}'
    assert register(http, "j", text, schemaType="JSON")["id"] == 1
    assert register(http, "k", text, schemaType="JSON")["id"] == 1
    found = http.get("/schemas/ids/1").json()
    assert (found["schemaType"], json.loads(found["schema"])) == ("JSON", json.loads(text))


def test_normalized_registration_finds_what_differs_in_spelling_only(http: httpx2.Client) -> None:
    verbose = json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": "x", "type": {"type": "long"}}], "doc": ""}
    )
    first = register(http, "s", verbose)
    again = register(http, "s", RECORD, "?normalize=True")
    assert again["id"] == first["id"]
    assert http.get("/subjects/s/versions").json() == [1]
    http.put("/config/s", json={"normalize": True})
    assert http.get("/config/s").json() == {"normalize": True, "compatibilityLevel": "BACKWARD"}
    assert register(http, "s", RECORD)["id"] == first["id"]


def test_subjects_are_listed_by_prefix_context_and_state(http: httpx2.Client) -> None:
    for subject in ("b-value", "a-value", ":.eu:a-value", "gone"):
        register(http, subject, RECORD)
    http.delete("/subjects/gone")
    listed = {
        "/subjects": [":.eu:a-value", "a-value", "b-value"],
        "/subjects?deleted=TRUE": [":.eu:a-value", "a-value", "b-value", "gone"],
        "/subjects?deletedOnly=true&deleted=true": ["gone"],
        "/subjects?deleted=yes": [":.eu:a-value", "a-value", "b-value"],
        "/subjects?subjectPrefix=a": ["a-value"],
        "/subjects?subjectPrefix=:*:a": [":.eu:a-value", "a-value"],
        "/subjects?subjectPrefix=:.eu:": [":.eu:a-value"],
        "/subjects?subjectPrefix=": [":.eu:a-value", "a-value", "b-value"],
        "/subjects?subjectPrefix=%00": [],
        "/subjects?offset=1&limit=1": ["a-value"],
        "/subjects?offset=&limit=-1&unknown=x": [":.eu:a-value", "a-value", "b-value"],
        "/contexts/.eu/subjects": [":.eu:a-value"],
        "/contexts/eu/subjects/": [":.eu:a-value"],
        "/contexts": [".", ".eu"],
        "/contexts/": [".", ".eu"],
    }
    assert {path: http.get(path).json() for path in listed} == listed


def test_versions_are_listed_by_state(http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "NONE"})
    for schema in (STRING, LONG, INT):
        register(http, "s", schema)
    assert http.delete("/subjects/s/versions/2").json() == 2
    assert http.get("/subjects/s/versions").json() == [1, 3]
    assert http.get("/subjects/s/versions?deleted=true").json() == [1, 2, 3]
    assert http.get("/subjects/s/versions?deletedOnly=true").json() == [2]
    assert http.get("/subjects/s/versions?deletedAsNegative=true").json() == [1, -2, 3]
    assert http.get("/subjects/s/versions/2?deleted=true").json()["deleted"] is True
    assert http.get("/subjects/s/versions/2").json()["error_code"] == 40402
    assert http.post("/subjects/s", json={"schema": LONG}).json()["error_code"] == 40403
    assert http.post("/subjects/s?deleted=true", json={"schema": LONG}).json()["version"] == 2
    assert http.delete("/subjects/s/versions/latest").json() == 3
    assert http.delete("/subjects/s").json() == [1]
    assert http.delete("/subjects/s?permanent=true").json() == [1, 2, 3]
    assert http.get("/subjects?deleted=true").json() == []


def test_version_numbers_continue_after_a_soft_delete(http: httpx2.Client) -> None:
    register(http, "s", STRING)
    http.delete("/subjects/s")
    assert [register(http, "s", STRING)[name] for name in ("id", "version")] == [1, 2]
    http.delete("/subjects/s")
    # A deleted version is no baseline.
    assert register(http, "s", LONG)["version"] == 3


def test_by_id_shows_the_asked_subject_and_lists_all_holders(http: httpx2.Client) -> None:
    for subject in ("b", "a", ":.eu:c"):
        register(http, subject, RECORD)
    assert http.get("/schemas/ids/1").json()["subject"] == "b"
    assert http.get("/schemas/ids/1?subject=a").json()["subject"] == "a"
    assert http.get("/schemas/ids/1?subject=").json()["subject"] == "b"
    assert http.get("/schemas/ids/1?subject=:.eu:").json()["subject"] == ":.eu:c"
    assert http.get("/contexts/.eu/schemas/ids/1").json()["subject"] == ":.eu:c"
    assert http.get("/schemas/ids/1?fetchMaxId=true").json()["maxId"] == 1
    assert http.get("/schemas/ids/1/subjects").json() == ["a", "b"]
    assert http.get("/schemas/ids/1/subjects?subject=b").json() == ["a", "b"]
    assert http.get("/schemas/ids/1/versions?limit=1").json() == [{"subject": "a", "version": 1}]
    http.delete("/subjects/b")
    assert http.get("/schemas/ids/1").json()["subject"] == "a"
    assert http.get("/schemas/ids/1/subjects").json() == ["a"]
    assert http.get("/schemas/ids/1/subjects?deleted=true").json() == ["a", "b"]


def test_cached_answers_are_the_route_s_own(http: httpx2.Client) -> None:
    register(http, "s", RECORD)
    cache = http.app.state.services.cache  # type: ignore[attr-defined]
    by_route, by_cache = http.get("/schemas/ids/1"), http.get("/schemas/ids/1")
    assert cache.get((".", 1)) == by_route.content == by_cache.content
    unlike = {"x-request-id"}
    headers = [{k: v for k, v in one.headers.items() if k not in unlike} for one in (by_route, by_cache)]
    assert headers[0] == headers[1]
    register(http, "a", RECORD)
    http.delete("/subjects/s")
    assert http.get("/schemas/ids/1").json()["subject"] == "a"


def test_references_are_resolved_protected_and_listed(http: httpx2.Client) -> None:
    register(http, ":.eu:r", RECORD)
    leaning = register(http, ":.eu:l", LEANING, references=[REFERENCE])
    deeper = json.dumps({"type": "record", "name": "D", "fields": [{"name": "l", "type": "L"}]})
    register(http, "d", deeper, references=[{"name": "L", "subject": ":.eu:l", "version": 1}])
    assert http.get("/subjects/:.eu:r/versions/1/referencedby").json() == [leaning["id"]]
    shown = http.get("/subjects/:.eu:l/versions/1?referenceFormat=qualified").json()["references"]
    assert shown == [REFERENCE | {"subject": ":.eu:r"}]
    assert http.delete("/subjects/:.eu:l").json()["error_code"] == 42206
    assert http.delete("/subjects/d").json() == [1]
    assert http.delete("/subjects/:.eu:l").json() == [1]
    # What is only softly deleted still protects from deletion for good.
    assert http.delete("/subjects/:.eu:r").json() == [1]
    assert http.delete("/subjects/:.eu:r?permanent=true").json()["error_code"] == 42206
    assert http.delete("/subjects/d?permanent=true").json() == [1]
    assert http.delete("/subjects/:.eu:l?permanent=true").json() == [1]
    assert http.delete("/subjects/:.eu:r?permanent=true").json() == [1]


def test_compatibility_is_judged_without_registering(http: httpx2.Client) -> None:
    wider = json.dumps({"type": "record", "name": "R", "fields": [{"name": "x", "type": "string"}]})
    check = "/compatibility/subjects/s/versions"
    assert http.post(f"{check}/latest", json={"schema": wider}).json() == {"is_compatible": True}
    register(http, "s", RECORD)
    for path in (check, f"{check}/latest", f"{check}/-1", f"{check}/1"):
        assert http.post(path, json={"schema": wider}).json() == {"is_compatible": False}
        verbose = http.post(f"{path}?verbose=True", json={"schema": wider}).json()
        assert verbose["is_compatible"] is False
        assert verbose["messages"][-1] == "{validateFields: 'false', compatibility: 'BACKWARD'}"
        assert http.post(f"{path}?verbose=true", json={"schema": RECORD}).json() == {
            "is_compatible": True,
            "messages": [],
        }
    invalid = http.post(f"{check}?verbose=true", json={"schema": "nonsense"})
    assert (invalid.status_code, invalid.json()["is_compatible"]) == (200, False)
    assert invalid.json()["messages"][0].startswith("Invalid schema")
    http.put("/config/s", json={"compatibility": "none"})
    assert http.post(check, json={"schema": wider}).json() == {"is_compatible": True}


def test_a_transitive_level_looks_at_every_version_and_others_at_the_latest(http: httpx2.Client) -> None:
    def fields(*named: str) -> str:
        optional = [{"name": name, "type": kind, "default": ""} for name, kind in (n.split(":") for n in named)]
        return json.dumps({"type": "record", "name": "R", "fields": optional})

    register(http, "s", fields("a:string"))
    register(http, "s", fields())
    changed = {
        "schema": json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": 0}]})
    }
    check = "/compatibility/subjects/s/versions"
    assert http.post(check, json=changed).json()["is_compatible"] is True
    http.put("/config/s", json={"compatibility": "BACKWARD_TRANSITIVE"})
    assert http.post(check, json=changed).json()["is_compatible"] is False
    assert http.post("/subjects/s/versions", json=changed).json()["error_code"] == 40901


def test_versions_are_compared_within_their_group(http: httpx2.Client) -> None:
    http.put("/config/s", json={"compatibility": "BACKWARD", "compatibilityGroup": "major"})
    assert http.get("/config/s").json() == {"compatibilityLevel": "BACKWARD", "compatibilityGroup": "major"}
    one, two = ({"properties": {"major": number}} for number in "12")
    register(http, "s", STRING, metadata=one)
    register(http, "s", LONG, metadata=two)
    refused = http.post("/subjects/s/versions", json={"schema": INT, "metadata": one})
    assert refused.json()["error_code"] == 40901


def test_config_is_a_patch_and_is_inherited(http: httpx2.Client) -> None:
    assert http.get("/config/").json() == {"compatibilityLevel": "BACKWARD"}
    assert http.put("/config", json={"compatibility": "full"}).json() == {"compatibility": "FULL"}
    assert http.get("/config").json() == {"compatibilityLevel": "FULL"}
    assert http.get("/config/s?defaultToGlobal=true").json() == {"compatibilityLevel": "FULL"}
    # The default context's config is not for other contexts; the global one is.
    assert http.get("/config/:.eu:s?defaultToGlobal=true").json() == {"compatibilityLevel": "BACKWARD"}
    http.put("/config/:.__GLOBAL:", json={"compatibility": "FORWARD"})
    assert http.get("/config/:.eu:s?defaultToGlobal=true").json() == {"compatibilityLevel": "FORWARD"}
    assert http.put("/config/s", json={"compatibility": "NONE", "normalize": True, "future": 1}).status_code == 200
    assert http.put("/config/s", json={"normalize": False}).json() == {"normalize": False, "compatibility": "NONE"}
    assert http.put("/config/s", json={"compatibility": None}).json() == {"normalize": False}
    assert http.delete("/config/s").json() == {"normalize": False}
    assert http.delete("/config").json() == {"compatibilityLevel": "FULL"}
    assert http.get("/config").json() == {"compatibilityLevel": "BACKWARD"}
    assert http.get("/config?defaultToGlobal=true").json() == {"compatibilityLevel": "FORWARD"}
    assert http.delete("/config/:.__GLOBAL:").status_code == 200
    assert http.get("/config").json() == {"compatibilityLevel": "BACKWARD"}


def test_a_policy_says_which_differences_between_json_schemas_break(http: httpx2.Client) -> None:
    def body(*names: str) -> dict[str, object]:
        schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
        return {"schema": json.dumps(schema), "schemaType": "JSON"}

    versions, check = "/subjects/j/versions", "/compatibility/subjects/j/versions/latest?verbose=true"
    assert http.post(versions, json=body("a")).status_code == 200
    answer = http.post(check, json=body("a", "b")).json()
    assert answer["is_compatible"] is False
    assert answer["messages"][0].startswith('{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", ')
    refused = http.post(versions, json=body("a", "b")).json()
    assert refused["error_code"] == 40901
    assert "'#/properties/b'" in refused["message"]
    assert http.put("/config/j", json={"compatibilityPolicy": "lenient"}).json() == {"compatibilityPolicy": "LENIENT"}
    assert http.get("/config/j").json() == {"compatibilityLevel": "BACKWARD", "compatibilityPolicy": "LENIENT"}
    assert http.post(check, json=body("a", "b")).json()["is_compatible"] is True
    assert http.post(versions, json=body("a", "b")).status_code == 200
    assert http.put("/config/j", json={"compatibilityPolicy": None}).json() == {}
    assert http.post(check, json=body("a", "b", "c")).json()["is_compatible"] is False


def test_a_policy_that_the_api_does_not_know_is_dropped_as_in_the_reference(http: httpx2.Client) -> None:
    register(http, "s", INT)
    http.put("/config/s", json={"compatibility": "FULL", "compatibilityPolicy": "LENIENT"})
    for unknown in ("EXACT", "LOGICAL", "no"):
        answer = http.put("/config/s", json={"compatibilityPolicy": unknown})
        assert answer.json() == {"compatibility": "FULL", "compatibilityPolicy": "LENIENT"}


def test_the_policy_of_our_own_is_a_member_of_its_own(http: httpx2.Client) -> None:
    assert http.put("/config/s", json={"contractlogPolicy": "LENIENT"}).json()["error_code"] == 422
    http.put("/config/s", json={"compatibilityPolicy": "LENIENT"})
    exact = {"compatibilityPolicy": "LENIENT", "contractlogPolicy": "EXACT"}
    assert http.put("/config/s", json={"contractlogPolicy": "exact"}).json() == exact
    wider = {"schema": '{"properties":{"a":{"type":"string"}}}', "schemaType": "JSON"}
    assert http.post("/subjects/s/versions", json={"schema": "{}", "schemaType": "JSON"}).status_code == 200
    assert http.post("/subjects/s/versions", json=wider).json()["error_code"] == 40901
    assert http.put("/config/s", json={"contractlogPolicy": None}).json() == {"compatibilityPolicy": "LENIENT"}


def test_settings_go_with_the_last_version_of_a_subject(http: httpx2.Client) -> None:
    register(http, "s", STRING)
    http.put("/config/s", json={"compatibility": "NONE"})
    http.delete("/subjects/s")
    assert http.get("/config/s").status_code == 200
    http.delete("/subjects/s/versions/1?permanent=true")
    assert http.get("/config/s").json()["error_code"] == 40408


def test_a_read_only_subject_still_answers_what_it_holds(http: httpx2.Client) -> None:
    first = register(http, "s", RECORD)
    assert http.put("/mode/s", json={"mode": "readonly"}).json() == {"mode": "READONLY"}
    assert http.get("/mode/s").json() == {"mode": "READONLY"}
    assert register(http, "s", RECORD) == first
    assert http.get("/mode").json() == {"mode": "READWRITE"}
    assert http.get("/mode/t").json()["error_code"] == 40409
    assert http.get("/mode/t?defaultToGlobal=true").json() == {"mode": "READWRITE"}
    assert http.delete("/mode/s").json() == {"mode": "READONLY"}
    assert http.put("/mode/s", json={"mode": "IMPORT"}).json()["error_code"] == 42205
    assert http.put("/mode", json={"mode": "READONLY"}).status_code == 200
    assert http.post("/subjects/new/versions", json={"schema": STRING}).json()["error_code"] == 42205
    assert http.put("/mode", json={"mode": None}).json() == {}
    register(http, "new", STRING)


@pytest.mark.parametrize(
    "subject",
    [
        "a%2Fb",
        "a%3Ab",
        "a:b:c",
        "a%25b",
        "a%20b",
        "a+b",
        "%C3%A9%E2%98%83%F0%9F%98%80",
        "a%2525",
        "x" * 1_000,
        "%E6%97%A5" * 1_000,
    ],
)
def test_any_name_is_one_subject_whatever_it_holds(http: httpx2.Client, subject: str) -> None:
    from urllib.parse import unquote

    register(http, subject, RECORD)
    assert http.get("/subjects").json() == [unquote(subject)]
    assert http.get(f"/subjects/{subject}/versions").json() == [1]
    assert http.get(f"/subjects/{subject}/versions/1/").json()["subject"] == unquote(subject)
    assert http.put(f"/config/{subject}", json={"compatibility": "FULL"}).status_code == 200
    assert http.delete(f"/subjects/{subject}/versions/latest").json() == 1


def test_content_types_and_accept_are_not_negotiated(http: httpx2.Client) -> None:
    body = json.dumps({"schema": RECORD}).encode()
    for content_type in (
        MEDIA_TYPE,
        "application/json",
        "application/octet-stream",
        "application/JSON; charset=utf-8",
        "",
    ):
        answer = http.post("/subjects/s/versions", content=body, headers={"Content-Type": content_type})
        assert answer.status_code == 200, content_type
    for accept in ("text/html, */*;q=0.1", "application/xml", "*/*"):
        answer = http.get("/subjects", headers={"Accept": accept, "Content-Type": "application/json"})
        assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE)


def test_the_service_says_what_it_is(http: httpx2.Client) -> None:
    assert http.get("/").json() == http.post("/").json() == {}
    assert http.get("/schemas/types").json() == ["JSON", "AVRO"]
    assert http.get("/v1/metadata/id").json()["id"] == ""
    assert http.get("/v1/metadata/version").json()["version"]
    assert http.get("/associations/resources/-/orders?resourceType=topic").json() == []
    assert http.get("/associations/resources/lkc%2F1/orders").json() == []
    assert http.get("/associations/subjects/orders").json() == []
    for probe in ("live", "ready", "startup"):
        assert http.get(f"/healthz/{probe}").status_code == 200


def test_an_answer_carries_the_id_of_its_request(http: httpx2.Client) -> None:
    assert http.get("/subjects", headers={"X-Request-ID": "mine"}).headers["x-request-id"] == "mine"
    first, second = (http.get("/nothing").headers["x-request-id"] for _ in range(2))
    assert first != second
    assert http.get("/subjects").headers["cache-control"] == "no-cache, no-store, must-revalidate"
