"""Batches of schemas: separate results, and references to earlier members."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.registry import in_process

LOOKUP, CHECK = "/contractlog/v1/lookup", "/contractlog/v1/check"


def record(name: str, **fields: Any) -> str:
    described = [{"name": n, "type": t} for n, t in fields.items()]
    return json.dumps({"type": "record", "name": name, "fields": described})


def ask(http: httpx2.Client, path: str, *schemas: Any) -> list[dict[str, Any]]:
    answer = http.post(path, json={"schemas": list(schemas)})
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert len(results) == len(schemas)
    return results


def register(http: httpx2.Client, subject: str, schema: str) -> dict[str, Any]:
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": schema})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_each_member_of_a_lookup_answers_as_it_would_alone(http: httpx2.Client) -> None:
    registered = [register(http, "a", record("A", x="long")), register(http, ":.eu:b", record("B"))]
    http.delete("/subjects/:.eu:b")
    found = ask(
        http,
        LOOKUP,
        {"subject": "a", "schema": record("A", x="long")},
        {"subject": "a", "schema": record("A")},
        {"subject": "nobody", "schema": record("A")},
        {"subject": "a", "schema": "nonsense"},
        {"subject": "a", "schema": 5},
        {"schema": record("A")},
        "nonsense",
        {"subject": ":.eu:b", "schema": record("B")},
        {"subject": ":.eu:b", "schema": record("B"), "deleted": True},
        {"subject": "a\0b", "schema": record("A")},
    )
    assert found[0] == {
        "subject": "a", "version": 1, "id": registered[0]["id"], "guid": registered[0]["guid"], "deleted": False
    }  # fmt: skip
    assert [one.get("error_code") for one in found] == [
        None, 40403, 40401, 42201, 400, 400, 400, 40401, None, 42208
    ]  # fmt: skip
    assert found[8]["deleted"] is True
    alone = http.post("/subjects/a", json={"schema": record("A")}).json()
    assert found[1] == alone


def test_each_member_of_a_check_answers_as_it_would_alone(http: httpx2.Client) -> None:
    register(http, "a", record("A", x="long"))
    found = ask(
        http,
        CHECK,
        {"subject": "a", "schema": record("A", x="string")},
        {"subject": "new", "schema": record("New")},
        {"subject": "a", "schema": "nonsense"},
        {"subject": "a", "schema": record("A", x="string"), "against": 1},
        {"subject": "a", "schema": record("A", x="string"), "against": 7},
        {"subject": "a", "schema": record("A", x="string"), "against": "some"},
    )
    assert [one.get("is_compatible") for one in found] == [False, True, None, False, None, None]
    assert [one.get("error_code") for one in found] == [None, None, 42201, None, 40402, 42281]
    alone = http.post("/compatibility/subjects/a/versions?verbose=true", json={"schema": record("A", x="string")})
    assert found[0]["messages"] == alone.json()["messages"]
    assert found[0]["level"] == "BACKWARD"
    [finding] = found[0]["findings"]
    assert (finding["compared_with"], finding["pointer"], finding["line"]) == ("a:1", "/fields/0/type", 1)


@pytest.mark.parametrize("number", [0, -1, -(2**70), 2**31, 2**63, 2**70])
def test_a_version_that_cannot_exist_is_an_error_of_its_member(http: httpx2.Client, number: int) -> None:
    register(http, "a", record("A", x="long"))
    member = {"subject": "a", "schema": record("A", x="long")}
    found = ask(http, CHECK, member | {"against": number}, member)
    assert [one.get("error_code") for one in found] == [42202, None]
    referring = member | {"references": [{"name": "n", "subject": "a", "version": number}]}
    for path in (CHECK, LOOKUP):
        response = http.post(path, json={"schemas": [referring, member]})
        assert response.status_code in {200, 422}


def test_a_member_is_judged_as_if_those_before_it_were_registered(http: httpx2.Client) -> None:
    found = ask(
        http,
        CHECK,
        {"subject": "s", "schema": record("A", x="long")},
        {"subject": "s", "schema": record("A", x="string")},
        {"subject": "s", "schema": record("A", x="double")},
        {"subject": "s", "schema": record("A", x="float")},
    )
    assert [one["is_compatible"] for one in found] == [True, False, True, False]
    assert [one["findings"][0]["compared_with"] for one in (found[1], found[3])] == ["s:1", "s:2"]
    assert http.get("/subjects").json() == []


@pytest.mark.parametrize("number", [1, -1])
def test_a_member_may_lean_on_those_before_it(http: httpx2.Client, number: int) -> None:
    leaning = {
        "subject": "orders",
        "schema": record("Order", item="Item"),
        "references": [{"name": "Item", "subject": "items", "version": number}],
    }
    item = {"subject": "items", "schema": record("Item", sku="string")}
    twice = leaning | {"schema": record("Order", item="Item", other="long")}
    found = ask(http, CHECK, item, leaning, twice)
    assert [one.get("is_compatible") for one in found] == [True, True, False]
    assert [one.get("error_code") for one in ask(http, CHECK, leaning, item)] == [42201, None]
    broken = item | {"schema": "nonsense"}
    assert [one.get("error_code") for one in ask(http, CHECK, broken, leaning)] == [42201, 42201]


def test_transitive_levels_count_what_is_expected_too(http: httpx2.Client) -> None:
    http.put("/config", json={"compatibility": "FULL_TRANSITIVE"})
    register(http, "s", record("A"))
    optional = json.dumps({"type": "record", "name": "A", "fields": [{"name": "x", "type": "long", "default": 1}]})
    found = ask(
        http,
        CHECK,
        {"subject": "s", "schema": optional},
        {"subject": "s", "schema": record("A")},
        {"subject": "s", "schema": optional.replace("long", "string").replace("1", '"1"')},
    )
    assert [one["is_compatible"] for one in found] == [True, True, False]
    assert {finding["compared_with"] for finding in found[2]["findings"]} == {"s:2"}


@pytest.mark.parametrize("path", [LOOKUP, CHECK])
def test_a_request_has_bounds(http: httpx2.Client, path: str) -> None:
    member = {"subject": "s", "schema": '"long"'}
    answer = http.post(path, json={"schemas": [member] * 501})
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42282)
    assert "501" in answer.json()["message"]
    assert len(ask(http, path, *[member] * 500)) == 500
    assert ask(http, path) == []
    for body, code in ((b"", 422), (b"[]", 400), (b'{"schemas": 5}', 400), (b"{}", 400), (b"{", 400)):
        assert http.post(path, content=body).json()["error_code"] == code


def test_a_large_request_is_413() -> None:
    with in_process(Settings(database_url="sqlite://", max_body_bytes=1_000)) as http:
        answer = http.post(LOOKUP, json={"schemas": [{"subject": "s", "schema": "x" * 2_000}]})
        assert answer.json()["error_code"] == 413


def test_a_check_takes_over_what_registering_would(http: httpx2.Client) -> None:
    """The group and the rules of the version before, for a draft that names none; and for those that follow it."""
    http.put("/config/s", json={"compatibilityGroup": "line"})
    http.post("/subjects/s/versions", json={"schema": '"int"', "metadata": {"properties": {"line": "1"}}})
    other = {"metadata": {"properties": {"line": "2"}}}
    found = ask(
        http,
        CHECK,
        {"subject": "s", "schema": '"string"'},
        {"subject": "s", "schema": '"string"', **other},
        {"subject": "s", "schema": '"bytes"'},
        {"subject": "s", "schema": '"int"'},
    )
    assert [one["is_compatible"] for one in found] == [False, True, True, False]
    answers = [
        http.post("/subjects/s/versions", json={"schema": schema, **more}).status_code
        for schema, more in (('"string"', {}), ('"string"', other), ('"bytes"', {}), ('"int"', {}))
    ]
    assert answers == [409, 200, 200, 409]
