"""JSON schemas that only the reference's parser accepts are accepted with a warning."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.clients import Config, Registry
from contractlog.clients.cli.check.check_text import detail_lines, verdict_line
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.schema_folder.resolver import FileResolver
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.compatibility.schema import SchemaDraft, SchemaType

HEADER = "x-contractlog-warning"
TWICE = '{"required":["a","a"]}'
ODD = {"schema": TWICE, "schemaType": "JSON"}
TOLD = 'not a schema of draft-07: ["a","a"] has non-unique elements (at /required)'


def refused(answer: httpx2.Response) -> int:
    code: int = answer.json()["error_code"]
    return code


@pytest.mark.parametrize(
    "text",
    [
        TWICE,
        '{"minLength":-1}',
        '{"items":[]}',
        '{"anyOf":[]}',
        '{"type":["string","string"]}',
        '{"definitions":{"unused":{"type":"nothing"}}}',
    ],
)
def test_a_new_schema_is_registered_with_a_warning(
    http: httpx2.Client, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"schema": text, "schemaType": "JSON"}
    with caplog.at_level(logging.WARNING, "contractlog.registry"):
        answer = http.post("/subjects/s/versions", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.headers[HEADER].startswith("not a schema of draft-07: ")
    (line,) = [record.getMessage() for record in caplog.records if "meta-schema" in record.getMessage()]
    assert line == f"registered under 's' a schema that its meta-schema rejects: {answer.headers[HEADER]}"
    caplog.clear()
    again = http.post("/subjects/s/versions?normalize=true", json=body)
    assert (again.json()["id"], again.headers[HEADER]) == (answer.json()["id"], answer.headers[HEADER])
    assert caplog.records == []  # nothing was registered
    assert http.post("/subjects/s", json=body).json()["version"] == 1
    journal = http.get("/contractlog/v1/changes?since=0").json()["changes"]
    assert [one["details"].get("warning") for one in journal if one["action"].startswith("version.")] == [
        answer.headers[HEADER]
    ]


def test_a_compatibility_check_warns_and_a_check_of_many_has_a_finding(http: httpx2.Client) -> None:
    for version in ("", "/latest"):
        answer = http.post(f"/compatibility/subjects/s/versions{version}?verbose=true", json=ODD)
        assert answer.json() == {"is_compatible": True, "messages": []}
        assert answer.headers[HEADER] == TOLD
    (member,) = http.post("/contractlog/v1/check", json={"schemas": [{"subject": "s", **ODD}]}).json()["results"]
    assert member["is_compatible"]
    (finding,) = member["findings"]
    assert (finding["check"], finding["pointer"], finding["line"]) == ("JSON_SCHEMA_NONCONFORMING", "/required", 1)


def test_conforming_and_rejected_schemas_have_no_warning(http: httpx2.Client) -> None:
    for body in ({"schema": "{}", "schemaType": "JSON"}, {"schema": '"int"'}):
        subject = body.get("schemaType", "AVRO")
        assert HEADER not in http.post(f"/subjects/{subject}/versions", json=body).headers
        assert HEADER not in http.post(f"/compatibility/subjects/{subject}/versions", json=body).headers
    for text in ('{"type":"nothing"}', '{"required":"a"}', '{"properties":{"a":{"type":"nothing"}},"anyOf":[]}'):
        answer = http.post("/subjects/s/versions", json={"schema": text, "schemaType": "JSON"})
        assert refused(answer) == 42201
        assert HEADER not in answer.headers


def test_text_that_a_header_cannot_hold_is_escaped(http: httpx2.Client) -> None:
    text = json.dumps({"required": ["ä\r\nX-Evil: 1", "ä\r\nX-Evil: 1"]}, ensure_ascii=False)
    answer = http.post("/subjects/s/versions", json={"schema": text, "schemaType": "JSON"})
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
    assert "\\xe4" in answer.headers[HEADER]


@pytest.mark.parametrize("scope", ["/config/s", "/config", "/config/:.__GLOBAL:"])
def test_strict_json_schemas_refuses_new_ones_from_each_scope(http: httpx2.Client, scope: str) -> None:
    assert http.post("/subjects/s/versions", json=ODD).json()["version"] == 1
    assert http.put(scope, json={"strictJsonSchemas": True}).json() == {"strictJsonSchemas": True}
    assert http.get("/config/s?defaultToGlobal=true").json()["strictJsonSchemas"] is True
    new = {"schema": '{"required":["a","a"],"minLength":-1}', "schemaType": "JSON"}
    http.put("/config/s", json={"compatibility": "NONE"})
    for path in ("/subjects/s/versions", "/compatibility/subjects/s/versions"):
        answer = http.post(path, json=new)
        assert refused(answer) == 42201
        assert "strictJsonSchemas" in answer.json()["message"]
    assert http.post("/subjects/s/versions", json=ODD).json()["version"] == 1  # not a new one
    http.put("/config/s", json={"validateNewSchemas": False, "strictJsonSchemas": True})
    assert refused(http.post("/subjects/s/versions", json=new)) == 42201
    http.put("/config/s", json={"strictJsonSchemas": False})  # the nearest scope decides
    assert http.post("/subjects/s/versions", json=new).status_code == 200
    http.put("/config/s", json=dict.fromkeys(["strictJsonSchemas", "validateNewSchemas"]))
    assert http.get("/config/s").json() == {"compatibilityLevel": "NONE"}


def test_a_context_s_strictness_is_its_own(http: httpx2.Client) -> None:
    http.put("/config/:.eu:", json={"strictJsonSchemas": True})
    assert refused(http.post("/subjects/:.eu:s/versions", json=ODD)) == 42201
    assert http.post("/subjects/s/versions", json=ODD).status_code == 200


def test_an_import_takes_nonconforming_schemas_where_new_ones_are_refused(http: httpx2.Client) -> None:
    http.put("/config/s", json={"strictJsonSchemas": True})
    http.put("/mode/s", json={"mode": "IMPORT"})
    answer = http.post("/subjects/s/versions", json=ODD | {"id": 7, "version": 3})
    assert answer.json()["id"] == 7
    assert answer.headers[HEADER] == TOLD
    assert json.loads(http.get("/schemas/ids/7/schema").content) == json.loads(TWICE)


def test_clients_set_and_read_the_member(registry: Registry) -> None:
    assert registry.set_config(Config(strict_json_schemas=True), "s").strict_json_schemas is True
    assert registry.config("s").strict_json_schemas is True
    assert registry.set_config({"strictJsonSchemas": None}, "s").strict_json_schemas is None


@pytest.mark.parametrize("value", ["true", 1, []])
def test_the_member_is_a_boolean(http: httpx2.Client, value: Any) -> None:
    assert refused(http.put("/config", json={"strictJsonSchemas": value})) == 400


def test_check_shows_the_finding_and_lets_the_file_pass(registry: Registry) -> None:
    file = SchemaFile(Path("s.schema.json"), "s", SchemaDraft('{\n "minLength": -1\n}', SchemaType.JSON))
    for outcome in ("compatible", "registered"):
        gate = SubjectChecker(registry, "s")
        examined = gate.check(FileResolver(registry).resolve(file))
        assert examined.outcome == outcome
        assert [each.finding.finding.check for each in examined.findings_beyond_level] == ["JSON_SCHEMA_NONCONFORMING"]
        assert examined.body()["findings"][0]["line"] == 2
        lines = [verdict_line(examined), *detail_lines(examined)]
        assert any("s.schema.json:2:15  at /minLength  JSON_SCHEMA_NONCONFORMING" in line for line in lines)
        registry.register("s", file.draft)


def test_check_tells_why_a_strict_registry_rejects_a_file(registry: Registry) -> None:
    file = SchemaFile(Path("s.schema.json"), "s", SchemaDraft('{"minLength": -1}', SchemaType.JSON))
    registry.set_config(Config(strict_json_schemas=True), "s")
    examined = SubjectChecker(registry, "s").check(FileResolver(registry).resolve(file))
    assert examined.outcome == "incompatible"
    assert verdict_line(examined).endswith("s.schema.json: rejected by the registry under `s`")
    assert any("the registry says: " in line and "strictJsonSchemas" in line for line in detail_lines(examined))
