"""The difference between two versions, or a candidate and a version, over HTTP."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

DIFF = "/contractlog/v1/diff"


def order(**fields: Any) -> str:
    described = [{"name": name, "type": kind} for name, kind in fields.items()]
    return json.dumps({"type": "record", "name": "Order", "fields": described}, indent=1)


@pytest.fixture
def node(http: httpx2.Client) -> httpx2.Client:
    http.put("/config", json={"compatibility": "NONE"})
    for schema in (order(id="long"), order(id="long", note="string")):
        assert http.post("/subjects/s/versions", json={"schema": schema}).status_code == 200
    assert http.post("/subjects/other/versions", json={"schema": order(id="string")}).status_code == 200
    return http


def test_two_versions_are_compared_at_every_level(node: httpx2.Client) -> None:
    found = node.get(DIFF, params={"earlier": "s:1", "later": "s:latest", "level": "BACKWARD"}).json()
    assert (found["earlier"], found["later"], found["level"], found["policy"]) == ("s:1", "s:2", "BACKWARD", "STRICT")
    assert (found["compatible"], found["kind"]) == (False, "forward")
    assert found["levels"] == ["NONE", "FORWARD", "FORWARD_TRANSITIVE"]
    [finding] = found["findings"]
    assert finding["check"] == "AVRO_FIELD_DEFAULT_MISSING"
    assert finding["compared_with"] == "s:1"
    assert finding["pointer"] == "/fields/1"
    assert finding["line"] == 1
    assert finding["column"] > 1
    assert "default" in json.loads(finding["mends"][0]["text"])["fields"][1]


def test_the_level_in_force_decides_where_none_is_asked_for(node: httpx2.Client) -> None:
    assert node.get(DIFF, params={"earlier": "s:1", "later": "s:2"}).json()["level"] == "NONE"
    node.put("/config/s", json={"compatibility": "FULL"})
    found = node.get(DIFF, params={"earlier": "s:1", "later": "s:2"}).json()
    assert (found["level"], found["compatible"]) == ("FULL", False)


def test_versions_of_two_subjects_are_compared_and_soft_deleted_ones_too(node: httpx2.Client) -> None:
    node.delete("/subjects/other")
    found = node.get(DIFF, params={"earlier": "s:1", "later": "other:1", "level": "FULL"}).json()
    assert found["kind"] == "breaking"
    assert {finding["direction"] for finding in found["findings"]} == {"BACKWARD", "FORWARD"}


def test_a_candidate_is_told_where_in_its_own_text(node: httpx2.Client) -> None:
    body = {"schema": order(id="long", note="string", total="long")}
    found = node.post(DIFF, params={"earlier": "s:latest", "level": "backward"}, json=body).json()
    assert (found["earlier"], found["later"], found["kind"]) == ("s:2", "candidate", "forward")
    assert (found["findings"][0]["line"], found["findings"][0]["column"]) == (13, 3)
    assert node.get("/subjects/s/versions").json() == [1, 2]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("earlier=s:1", 42281),
        ("later=s:1", 42281),
        ("earlier=s&later=s:1", 42281),
        ("earlier=s:0&later=s:1", 42281),
        ("earlier=s:x&later=s:1", 42281),
        ("earlier=:1&later=s:1", 42281),
        ("earlier=s%00:1&later=s:1", 42281),
        ("earlier=s:99999999999999999999&later=s:1", 42281),
        ("earlier=s:1&later=s:2&level=SOME", 42281),
        ("earlier=s:1&later=s:2&policy=SOME", 42281),
        ("earlier=nobody:1&later=s:1", 40401),
        ("earlier=nobody:latest&later=s:1", 40401),
        ("earlier=s:1&later=s:3", 40402),
    ],
)
def test_incomparable_schemas_are_named(node: httpx2.Client, query: str, code: int) -> None:
    answer = node.get(f"{DIFF}?{query}")
    assert answer.json()["error_code"] == code, answer.text
    assert answer.status_code == int(str(code)[:3])


@pytest.mark.parametrize(
    ("body", "code"), [({"schema": "nonsense"}, 42201), ({"schema": 1}, 400), (None, 422), ({"schema": ""}, 42201)]
)
def test_a_candidate_that_is_no_schema_is_refused(node: httpx2.Client, body: Any, code: int) -> None:
    sent = {} if body is None else {"json": body}
    assert node.post(DIFF, params={"earlier": "s:1"}, **sent).json()["error_code"] == code
