"""The steps of a registration in the reference's order, with its messages."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from contractlog.compatibility.content_identity import compute_guid
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.schema import Reference

STRING, LONG = '"string"', '"long"'


def record(*names: str, **members: Any) -> str:
    fields = [{"name": name, "type": "string", "default": ""} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": fields, **members}, separators=(",", ":"))


def post(http: httpx2.Client, subject: str, schema: str | None, query: str = "", **members: Any) -> httpx2.Response:
    body = members if schema is None else {"schema": schema, **members}
    return http.post(f"/subjects/{subject}/versions{query}", json=body)


def put(http: httpx2.Client, subject: str, schema: str | None, query: str = "", **members: Any) -> dict[str, Any]:
    answer = post(http, subject, schema, query, **members)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def refused(answer: httpx2.Response) -> tuple[int, str]:
    body = answer.json()
    return body["error_code"], body["message"]


def mode(http: httpx2.Client, scope: str, name: str, query: str = "") -> None:
    answer = http.put(f"/mode{scope}{query}", json={"mode": name})
    assert answer.status_code == 200, answer.text


def test_existing_versions_are_returned_before_the_mode_is_checked(http: httpx2.Client) -> None:
    first = put(http, "s", STRING)
    mode(http, "/s", "READONLY")
    assert put(http, "s", STRING) == first
    assert put(http, "s", STRING, id=1) == first
    assert refused(post(http, "s", LONG)) == (42205, "Subject s in context . is in read-only mode")
    mode(http, "/s", "READWRITE")
    assert refused(post(http, "s", STRING, id=7)) == (42205, "Subject s in context . is not in import mode")
    assert refused(post(http, "t", STRING, id=7)) == (42205, "Subject t in context . is not in import mode")
    mode(http, "/t", "IMPORT")
    assert refused(post(http, "t", LONG)) == (42205, "Subject t in context . is not in read-write mode")


def test_a_registration_without_text_changes_only_the_metadata_of_the_latest_version(http: httpx2.Client) -> None:
    assert refused(post(http, "s", None, metadata={"properties": {"a": "1"}})) == (42201, "Empty schema")
    put(http, "s", record("a"))
    found = put(http, "s", None, metadata={"properties": {"owner": "me"}})
    assert (found["version"], found["schema"]) == (2, record("a"))
    assert found["metadata"] == {"properties": {"owner": "me"}}
    again = put(http, "s", None)
    assert again["version"] == 2


def test_metadata_and_rules_are_taken_over_until_an_empty_object_drops_them(http: httpx2.Client) -> None:
    rules = {"domainRules": [{"name": "n", "type": "CEL", "expr": "true"}]}
    put(http, "s", record("a"), metadata={"properties": {"owner": "me"}}, ruleSet=rules)
    second = put(http, "s", record("a", "b"))
    assert second["metadata"] == {"properties": {"owner": "me"}}
    assert second["ruleSet"]["domainRules"][0]["name"] == "n"
    third = put(http, "s", record("a", "b", "c"), metadata={}, ruleSet={})
    assert "metadata" not in third
    assert "ruleSet" not in third


def test_config_lays_metadata_and_rules_below_and_above(http: httpx2.Client) -> None:
    def rule(name: str, expr: str) -> dict[str, Any]:
        return {"name": name, "type": "CUSTOM", "expr": expr, "kind": "CONDITION", "mode": "WRITE"}

    http.put(
        "/config/s",
        json={
            "defaultMetadata": {"properties": {"a": "default", "b": "default"}, "sensitive": ["a"]},
            "overrideMetadata": {"properties": {"c": "override"}, "sensitive": ["c"]},
            "defaultRuleSet": {"domainRules": [rule("one", "default"), rule("two", "default")]},
            "overrideRuleSet": {"domainRules": [rule("three", "override")]},
        },
    )
    found = put(
        http,
        "s",
        STRING,
        metadata={"properties": {"b": "own", "c": "own"}},
        ruleSet={"domainRules": [rule("two", "own"), rule("three", "own")]},
    )
    assert found["metadata"] == {
        "properties": {"a": "default", "b": "own", "c": "override"},
        "sensitive": ["a", "c"],
    }
    told = [(one["name"], one["expr"]) for one in found["ruleSet"]["domainRules"]]
    assert told == [("one", "default"), ("two", "own"), ("three", "override")]


def test_version_minus_one_compares_with_the_latest_alone_and_numbers_the_metadata(http: httpx2.Client) -> None:
    put(http, "s", record("a"))
    put(http, "s", record("a", "b"))
    assert put(http, "s", record("a"))["version"] == 1
    found = put(http, "s", record("a"), version=-1)
    assert (found["version"], found["metadata"]) == (3, {"properties": {"confluent:version": "3"}})
    again = put(http, "s", record("a"), version=-1)
    assert again["version"] == 3
    assert list(again)[-2:] == ["ts", "deleted"]
    following = put(http, "s", record("a", "c"))
    assert following["metadata"] == {"properties": {"confluent:version": "4"}}


def test_a_requested_version_must_be_the_next_one(http: httpx2.Client) -> None:
    assert refused(post(http, "s", STRING, version=2)) == (42201, "Version is not one more than previous version")
    assert put(http, "s", STRING, version=1)["version"] == 1
    assert put(http, "s", STRING, version=1)["version"] == 1
    assert refused(post(http, "s", STRING, version=4)) == (42201, "Version is not one more than previous version")
    assert put(http, "s", STRING, version=2)["version"] == 2


def test_an_import_keeps_ids_and_numbers_and_an_id_keeps_its_content(http: httpx2.Client) -> None:
    mode(http, "", "IMPORT")
    assert put(http, "s", STRING, id=7, version=3)["id"] == 7
    assert put(http, "s", LONG, id=9)["version"] == 4
    assert put(http, "s", STRING, id=7, version=3)["version"] == 3
    assert put(http, "s", STRING, id=7)["version"] == 3
    assert http.get("/subjects/s/versions").json() == [3, 4]
    told = (42205, "Overwrite new schema with id 7 in context . is not permitted.")
    assert refused(post(http, "s", LONG, id=7)) == told
    code, message = refused(post(http, "s", STRING, id=11, version=4))
    assert (code, "Version 4 of subject s" in message) == (42205, True)
    # One content may have several ids; new registrations get the last one.
    assert put(http, "t", STRING, id=12)["version"] == 1
    mode(http, "", "READWRITE")
    assert put(http, "u", STRING)["id"] == 12
    assert put(http, "u2", '"int"')["id"] == 13
    assert put(http, "s", STRING)["id"] == 7
    assert http.post("/subjects/s", json={"schema": STRING}).json()["version"] == 3


def test_an_id_that_was_deleted_for_good_comes_back_with_its_content_alone(http: httpx2.Client) -> None:
    put(http, "s", STRING)
    http.delete("/subjects/s")
    mode(http, "/s", "IMPORT")
    assert http.get("/schemas/ids/1").json()["error_code"] == 40403
    assert http.get("/subjects?deleted=true").json() == []
    code, message = refused(post(http, "s", LONG, id=1))
    assert code == 42205
    assert message.startswith("Overwrite new schema with id 1 in context . is not permitted.")
    assert "another context; or, where no record carries" in message
    assert "contractlog db forget-context . --confirm ." in message
    assert put(http, "s", STRING, id=1, version=5)["version"] == 5
    assert http.get("/schemas/ids/1").json()["schema"] == STRING


def test_import_begins_where_nothing_is_live_unless_it_is_forced(http: httpx2.Client) -> None:
    put(http, "s", STRING)
    told = (42205, "Cannot import since found existing subjects")
    for scope in ("/s", "", "/:.__GLOBAL:"):
        assert refused(http.put(f"/mode{scope}", json={"mode": "IMPORT"})) == told
    mode(http, "", "IMPORT", "?force=true")
    assert http.get("/subjects").json() == ["s"]
    assert refused(http.put("/mode/s", json={"mode": "FORWARD"})) == (
        42204,
        "Forward mode only supported on global level",
    )
    http.delete("/mode")
    mode(http, "/:.__GLOBAL:", "FORWARD")
    assert put(http, "f", LONG, id=40)["id"] == 40
    assert refused(post(http, "f", STRING)) == (42205, "Subject f in context . is not in read-write mode")


def test_a_lookup_finds_other_notations_and_inlined_references(http: httpx2.Client) -> None:
    inner = record("a").replace('"R"', '"I"')
    put(http, "i", inner)
    leaning = json.dumps({"type": "record", "name": "O", "fields": [{"name": "i", "type": "I"}]})
    reference = {"name": "I", "subject": "i", "version": 1}
    put(http, "s", leaning, references=[reference])
    inlined = json.dumps({"type": "record", "name": "O", "fields": [{"name": "i", "type": json.loads(inner)}]})
    found = put(http, "s", inlined)
    assert (found["version"], found["references"]) == (1, [reference])
    assert list(found)[-2:] == ["ts", "deleted"]
    assert http.post("/subjects/s", json={"schema": inlined}).json()["version"] == 1
    put(http, "j", '{"title":"T","type":"object"}', schemaType="JSON")
    turned = put(http, "j", '{"type":"object","title":"T"}', schemaType="JSON")
    assert (turned["version"], turned["schema"]) == (1, '{"title":"T","type":"object"}')


def test_equal_contents_with_other_numbers_in_their_metadata_are_one(http: httpx2.Client) -> None:
    put(http, "s", record("a"))
    asked = {"schema": record("a"), "metadata": {"properties": {"confluent:version": "1"}}}
    assert http.post("/subjects/s", json=asked).json()["version"] == 1
    asked["metadata"] = {"properties": {"confluent:version": "2"}}
    assert refused(http.post("/subjects/s", json=asked)) == (40403, "Schema not found")


def test_a_lookup_without_metadata_finds_what_registering_would_find(http: httpx2.Client) -> None:
    put(http, "s", record("a"), metadata={"properties": {"owner": "me"}})
    found = http.post("/subjects/s", json={"schema": record("a")}).json()
    assert (found["version"], found["metadata"]) == (1, {"properties": {"owner": "me"}})
    empty = {"schema": record("b"), "metadata": {}, "ruleSet": {}, "references": []}
    put(http, "t", record("b"))
    assert http.post("/subjects/t", json=empty).json()["version"] == 1


def test_force_skips_only_the_compatibility_check(http: httpx2.Client) -> None:
    put(http, "s", STRING)
    assert post(http, "s", LONG).status_code == 409
    assert put(http, "s", LONG, "?force=True")["version"] == 2
    assert post(http, "s", '"nothing"', "?force=true").json()["error_code"] == 42201


def test_a_group_opens_a_new_line_of_versions(http: httpx2.Client) -> None:
    http.put("/config/s", json={"compatibilityGroup": "major"})
    put(http, "s", STRING, metadata={"properties": {"major": "1"}})
    assert post(http, "s", LONG, metadata={"properties": {"major": "1"}}).status_code == 409
    assert put(http, "s", LONG, metadata={"properties": {"major": "2"}})["version"] == 2


def test_reserved_fields_stay_reserved_and_unused(http: httpx2.Client) -> None:
    http.put("/config/s", json={"validateFields": True})
    reserved = {"properties": {"confluent:reserved": "later, b"}}
    put(http, "s", record("a"), metadata=reserved)
    code, message = refused(post(http, "s", record("a", "b")))
    conflict = "The new schema has field that conflicts with the reserved field b."
    assert code == 40901
    assert message == (
        'Schema being registered is incompatible with an earlier schema for subject "s", '
        f"details: [{conflict}, {{validateFields: 'true', compatibility: 'BACKWARD'}}]"
    )
    code, message = refused(post(http, "s", record("a", "c"), metadata={"properties": {"confluent:reserved": "b"}}))
    removed = "The new schema has reserved field later removed from its metadata which is present in the old"
    assert (code, removed in message) == (40901, True)
    assert put(http, "s", record("a", "c"))["version"] == 2
    dollars = json.dumps({"type": "object", "properties": {"$$x": {}}})
    http.put("/config/j", json={"validateFields": True})
    code, message = refused(post(http, "j", dollars, schemaType="JSON"))
    assert (code, message) == (42201, "Field names cannot start with $$ prefix")


def test_new_schemas_are_validated_unless_the_config_disables_it(http: httpx2.Client) -> None:
    odd = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "default": "x"}]})
    assert post(http, "s", odd).json()["error_code"] == 42201
    checks = ["/compatibility/subjects/s/versions", "/compatibility/subjects/s/versions/latest"]
    assert {http.post(path, json={"schema": odd}).json()["error_code"] for path in checks} == {42201}
    http.put("/config/s", json={"validateNewSchemas": False})
    for path in checks:  # a gate says what registering would say
        assert http.post(path, json={"schema": odd}).json() == {"is_compatible": True}
    many = http.post("/contractlog/v1/check", json={"schemas": [{"subject": "s", "schema": odd}]}).json()
    assert many["results"][0]["is_compatible"] is True
    assert put(http, "s", odd)["version"] == 1
    assert http.post("/contractlog/v1/diff?earlier=s:1", json={"schema": odd}).json()["compatible"] is True
    http.put("/config/s", json={"validateNewSchemas": None})
    assert put(http, "s", odd)["version"] == 1  # it is there already


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            {"domainRules": [{"name": "a", "type": "CEL"}] * 2},
            "Found rule with duplicate name 'a'",
        ),
        (
            {"domainRules": [{"name": "a", "type": "CEL"}], "encodingRules": [{"name": "a", "type": "CEL"}]},
            "Found rule with duplicate name 'a'",
        ),
        ({"domainRules": [{"name": "a"}]}, "Missing rule type"),
        (
            {"migrationRules": [{"name": "a", "type": "JSONATA", "mode": "WRITE"}]},
            "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN",
        ),
        (
            {"domainRules": [{"name": "a", "type": "CEL", "mode": "UPGRADE"}]},
            "Domain rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            {"encodingRules": [{"name": "a", "type": "CEL", "mode": "UPDOWN"}]},
            "Encoding rules can only be WRITE, READ, WRITEREAD",
        ),
        (
            {"domainRules": [{"name": "a", "type": "CEL", "mode": "WRITE", "onFailure": "NONE,ERROR"}]},
            "Multiple actions only valid with WRITEREAD and UPDOWN",
        ),
        ({"domainRules": [{"name": "1a", "type": "CEL"}]}, "Illegal initial character: 1a"),
        ({"domainRules": [{"name": "a b", "type": "CEL"}]}, "Illegal character in: a b"),
    ],
)
def test_rules_have_a_structure(http: httpx2.Client, rules: dict[str, Any], message: str) -> None:
    assert refused(post(http, "s", STRING, ruleSet=rules)) == (42210, message)
    assert refused(http.put("/config/s", json={"overrideRuleSet": rules})) == (42210, message)


def test_rules_that_a_schema_inherits_count_for_the_bounds_of_its_rules(http: httpx2.Client) -> None:
    def rules(prefix: str, number: int) -> dict[str, Any]:
        return {"domainRules": [{"name": f"{prefix}{index}", "type": "OTHER"} for index in range(number)]}

    assert http.put("/config/s", json={"overrideRuleSet": rules("a", 600)}).status_code == 200
    message = "The rule set has 1,100 rules, more than 1,000"
    assert refused(post(http, "s", STRING, ruleSet=rules("b", 500))) == (42210, message)
    assert put(http, "s", STRING, ruleSet=rules("b", 400))["version"] == 1


def test_rules_are_stored_and_compared_in_lookups(http: httpx2.Client) -> None:
    rules = {"domainRules": [{"name": "a", "kind": "CONDITION", "type": "CEL", "mode": "WRITE"}]}
    stored = put(http, "s", STRING, ruleSet=rules)["ruleSet"]
    assert stored["domainRules"][0]["name"] == "a"
    assert http.get("/subjects/s/versions/1").json()["ruleSet"] == stored
    found = http.post("/subjects/s", json={"schema": STRING, "ruleSet": rules})
    assert (found.status_code, found.json()["ruleSet"]) == (200, stored)
    other = {"domainRules": [rules["domainRules"][0] | {"name": "b"}]}
    assert refused(http.post("/subjects/s", json={"schema": STRING, "ruleSet": other}))[0] == 40403


def test_a_hard_deleted_highest_version_number_is_assigned_again(http: httpx2.Client) -> None:
    put(http, "s", record("a"))
    second = put(http, "s", record("a", "b"))
    for query in ("", "?permanent=true"):
        assert http.delete(f"/subjects/s/versions/2{query}").json() == 2
    third = put(http, "s", record("a", "c"))
    assert (second["version"], third["version"]) == (2, 2)
    assert third["id"] > second["id"]


def test_tags_are_added_and_removed_inside_the_text_and_kept(http: httpx2.Client) -> None:
    def tags(path: str, *names: str) -> list[dict[str, Any]]:
        return [{"schemaEntity": {"entityPath": path, "entityType": "sr_field"}, "tags": list(names)}]

    first = put(http, "s", record("a"), schemaTagsToAdd=tags("R.a", "PII", "X"))
    assert json.loads(first["schema"])["fields"][0]["confluent:tags"] == ["PII", "X"]
    second = put(http, "s", record("a"), schemaTagsToRemove=tags("R.a", "X"), propagateSchemaTags=True)
    assert json.loads(second["schema"])["fields"][0]["confluent:tags"] == ["PII"]
    kept = put(http, "s", record("a", "b"), propagateSchemaTags=True)
    assert json.loads(kept["schema"])["fields"][0]["confluent:tags"] == ["PII"]
    code, _ = refused(post(http, "s", record("a"), schemaTagsToAdd=tags("R.z", "PII")))
    assert code == 42201


def test_tags_are_changed_in_json_schemas_too(http: httpx2.Client) -> None:
    text = '{"type":"object","properties":{"a":{"maximum":1.50}}}'
    path = {"entityPath": "object.a", "entityType": "sr_field"}
    found = put(http, "j", text, schemaType="JSON", schemaTagsToAdd=[{"schemaEntity": path, "tags": ["PII"]}])
    assert found["schema"] == '{"type":"object","properties":{"a":{"maximum":1.50,"confluent:tags":["PII"]}}}'
    other = text.replace("1.50", "2")
    kept = put(http, "j", other, schemaType="JSON", propagateSchemaTags=True)
    assert json.loads(kept["schema"])["properties"]["a"] == {"maximum": 2, "confluent:tags": ["PII"]}


def test_the_tags_endpoint_makes_a_new_version_of_one_that_is_there(http: httpx2.Client) -> None:
    rule = {"name": "n", "type": "CEL", "kind": "CONDITION", "mode": "WRITE", "disabled": False}
    put(http, "s", record("a"), ruleSet={"domainRules": [rule, rule | {"name": "m"}]})
    asked = {
        "tagsToAdd": [{"schemaEntity": {"entityPath": "R.a", "entityType": "sr_field"}, "tags": ["PII"]}],
        "newVersion": 2,
        "metadata": {"properties": {"owner": "me"}},
        "rulesToMerge": {"domainRules": [rule | {"expr": "true"}, rule | {"name": "k"}]},
        "rulesToRemove": ["m"],
    }
    answer = http.post("/subjects/s/versions/latest/tags", json=asked)
    found = answer.json()
    assert list(found) == ["id", "version", "guid", "schemaType", "metadata", "ruleSet", "schema"]
    assert (found["id"], found["version"]) == (2, 2)
    assert found["metadata"] == {"properties": {"confluent:version": "2", "owner": "me"}}
    assert [(one["name"], one.get("expr")) for one in found["ruleSet"]["domainRules"]] == [("n", "true"), ("k", None)]
    assert json.loads(found["schema"])["fields"][0]["confluent:tags"] == ["PII"]
    both = http.post("/subjects/s/versions/1/tags", json={"ruleSet": {}, "rulesToRemove": ["n"]})
    assert refused(both) == (42210, "ruleSet should be omitted if specifying rulesToMerge or rulesToRemove")
    assert refused(http.post("/subjects/s/versions/9/tags", json={})) == (40402, "Version 9 not found.")
    assert refused(http.post("/subjects/x/versions/1/tags", json={})) == (40401, "Subject 'x' not found.")
    late = http.post("/subjects/s/versions/2/tags", json={"newVersion": 7, "metadata": {"properties": {"x": "y"}}})
    assert refused(late) == (42201, "Version is not one more than previous version")


def test_guids_follow_the_recipe_with_rules_of_every_kind(http: httpx2.Client) -> None:
    put(http, "i", record("a").replace('"R"', '"I"'))
    leaning = '{"type":"record","name":"O","fields":[{"name":"i","type":"I"}]}'
    reference = {"name": "I", "subject": "i", "version": 1}
    rule = {"name": "n", "type": "ENCRYPT", "tags": ["b", "a"], "params": {"k": "v"}, "disabled": True}
    rules = {"encodingRules": [rule], "enableAt": "CLIENT"}
    metadata = {"tags": {"O.i": ["z", "y"]}, "properties": {"p": "q"}, "sensitive": ["p"]}
    found = put(http, "s", leaning, references=[reference], metadata=metadata, ruleSet=rules)
    asked = compute_guid(leaning, [Reference("I", "i", 1)], Metadata.from_body(metadata), RuleSet.from_body(rules))
    assert found["guid"] == asked
    assert found["ruleSet"]["encodingRules"][0]["tags"] == ["a", "b"]
    assert found["ruleSet"]["enableAt"] == "CLIENT"


def test_a_type_that_is_not_built_is_named(http: httpx2.Client) -> None:
    text = 'syntax = "proto3";'
    for path in ("/subjects/s/versions", "/subjects/s", "/compatibility/subjects/s/versions"):
        answer = http.post(path, json={"schema": text, "schemaType": "PROTOBUF"})
        assert refused(answer) == (42201, "Invalid schema type PROTOBUF")


def test_an_alias_is_written_through(http: httpx2.Client) -> None:
    http.put("/config/old", json={"alias": "new"})
    put(http, "old", STRING)
    assert http.get("/subjects").json() == ["new"]
    assert http.post("/subjects/old", json={"schema": STRING}).json()["subject"] == "new"
    assert http.delete("/subjects/old").json() == [1]


def test_a_plain_name_is_looked_up_in_every_context(http: httpx2.Client) -> None:
    put(http, ":.eu:s", STRING)
    assert http.post("/subjects/s", json={"schema": STRING}).json()["subject"] == ":.eu:s"
    assert refused(http.post("/subjects/:.us:s", json={"schema": STRING})) == (40401, "Subject ':.us:s' not found.")


def test_registering_a_soft_deleted_content_takes_its_place_in_the_journal_too(http: httpx2.Client) -> None:
    put(http, "s", STRING)
    http.delete("/subjects/s")
    put(http, "s", STRING)
    assert http.get("/subjects/s/versions?deleted=true").json() == [2]


def cel(expr: str, **members: Any) -> dict[str, Any]:
    return {
        "domainRules": [{"name": "r", "type": "CEL", "kind": "CONDITION", "mode": "WRITE", "expr": expr, **members}]
    }


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("message.b ==", "Expected an expression, not the end of the expression (line 1, column 13)"),
        ("message.bb == ''", "record R has no field 'bb'. Did you mean 'b'? (line 1, column 9)"),
        ("message.b", "A condition must be a bool, not string (line 1, column 9)"),
    ],
)
def test_a_new_schema_with_an_invalid_rule_is_refused(http: httpx2.Client, expr: str, message: str) -> None:
    answer = post(http, "s", record("a", "b"), ruleSet=cel(expr))
    assert answer.status_code == 422
    assert refused(answer) == (42210, f"Invalid rule set: rule r: {message}")
    assert http.get("/subjects").json() == []


@pytest.mark.parametrize("members", [{"disabled": True}, {"type": "JSONATA"}, {"expr": "decimals.eq(message.a, 1)"}])
def test_rules_that_do_not_run_or_cannot_be_checked_are_accepted(http: httpx2.Client, members: dict[str, Any]) -> None:
    put(http, "s", record("a"), ruleSet=cel(**{"expr": "message.x ==", **members}))


def test_rules_of_existing_and_imported_schemas_are_not_checked(http: httpx2.Client) -> None:
    rules = cel("message.x == 1")
    mode(http, "/s", "IMPORT")
    put(http, "s", record("a"), ruleSet=rules, id=7, version=1)
    mode(http, "/s", "READWRITE")
    assert put(http, "s", record("a"), ruleSet=rules)["id"] == 7
    assert refused(post(http, "s", record("a", "b")))[0] == 42210  # the new schema inherits the rule
    put(http, "s", record("a", "b"), ruleSet={})


def test_rules_that_are_enabled_nowhere_are_not_checked(http: httpx2.Client) -> None:
    put(http, "s", record("a"), ruleSet={**cel("message.x == 1"), "enableAt": "NONE"})
