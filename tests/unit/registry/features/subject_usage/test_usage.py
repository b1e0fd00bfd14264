"""Usage of subjects: clients by version, and records by topic, on every database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.features.subject_usage import queries
from contractlog.registry.settings import Settings

from support.audits import create_audit, use
from support.registry import in_process

USAGE = "/contractlog/v1/usage"


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        client.put("/config", json={"compatibility": "NONE"})
        yield client


def register(node: httpx2.Client, subject: str, schema: Any) -> int:
    return int(node.post(f"/subjects/{subject}/versions", json={"schema": json.dumps(schema)}).json()["id"])


def fetch(node: httpx2.Client, schema_id: int, client: str, times: int = 1, scope: str = "") -> None:
    for _ in range(times):
        answer = node.get(f"/schemas/ids/{schema_id}{scope}", headers={"X-Contractlog-Client": client})
        assert answer.status_code == 200


def usages(node: httpx2.Client, *subjects: str, **options: Any) -> list[dict[str, Any]]:
    answer = node.post(USAGE, json={"subjects": list(subjects)}, **options)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def clients(result: dict[str, Any]) -> set[tuple[str, int, int]]:
    return {(each["client"], each["version"], each["count"]) for each in result["clients"]}


def test_clients_are_counted_by_version_before_and_after_counts_are_stored(node: httpx2.Client) -> None:
    ids = [register(node, "orders-value", kind) for kind in ("string", "long")]
    fetch(node, ids[0], "billing", 2)
    fetch(node, ids[1], "billing")
    fetch(node, ids[1], "fraud")
    expected = {("billing", 1, 2), ("billing", 2, 1), ("fraud", 2, 1)}
    for _ in range(2):
        (result,) = usages(node, "orders-value")
        assert clients(result) == expected
        assert result["client_count"] == 2
        node.app.state.services.fetch_counter.flush()  # type: ignore[attr-defined]
    fetch(node, ids[0], "billing")  # part of the counts is stored, part is not
    assert ("billing", 1, 3) in clients(usages(node, "orders-value")[0])


def test_only_the_clients_of_the_requested_days_are_listed(node: httpx2.Client) -> None:
    schema_id = register(node, "orders-value", "string")
    counter = node.app.state.services.fetch_counter  # type: ignore[attr-defined]
    today = counter.today * 86_400.0
    for days_ago, client in ((0, "new"), (29, "recent"), (30, "old")):
        counter._clock = lambda ago=days_ago: today - ago * 86_400
        counter.count(".", schema_id, [(b"x-contractlog-client", client.encode())])
    counter._clock = lambda: today
    assert [each["client"] for each in usages(node, "orders-value")[0]["clients"]] == ["new", "recent"]
    every = usages(node, "orders-value", params={"days": 31})
    assert [each["client"] for each in every[0]["clients"]] == ["new", "recent", "old"]


def test_a_fetched_id_is_the_newest_live_version_that_has_it(node: httpx2.Client) -> None:
    schema_id = register(node, "orders-value", "string")
    node.delete("/subjects/orders-value/versions/1")
    register(node, "orders-value", "long")
    assert register(node, "orders-value", "string") == schema_id
    fetch(node, schema_id, "billing")
    assert clients(usages(node, "orders-value")[0]) == {("billing", 3, 1)}


def test_many_clients_are_counted_and_the_latest_hundred_listed(node: httpx2.Client) -> None:
    schema_id = register(node, "orders-value", "string")
    for number in range(150):
        fetch(node, schema_id, f"client-{number:03}")
    (result,) = usages(node, "orders-value")
    assert (len(result["clients"]), result["client_count"]) == (100, 150)


def test_topics_are_those_of_the_name_and_of_associations(node: httpx2.Client) -> None:
    schema_id = register(node, "orders-value", "string")
    one = use(schema_id, 1_200, "orders-value", 1)
    for topic, part in (("orders", "value"), ("orders", "key"), ("retries", "value"), ("other", "value")):
        node.post(f"/contractlog/v1/conformance/{topic}", json=create_audit(topic, one, part=part))
    resource = {"resourceName": "retries", "resourceNamespace": "lkc-1", "resourceId": "r-1"}
    bound = {"associations": [{"subject": "orders-value", "associationType": "value"}]}
    assert node.post("/associations", json=resource | bound).status_code == 200
    topics = usages(node, "orders-value")[0]["topics"]
    assert [(each["topic"], each["part"], each["records"]) for each in topics] == [
        ("orders", "value", 1_200), ("retries", "value", 1_200)]  # fmt: skip
    assert topics[0]["versions"] == [
        {"id": schema_id, "subject": "orders-value", "version": 1, "records": 1_200, "expected": True}
    ]
    assert topics[0]["recorded_at"] > 0


def test_a_subject_of_another_context_has_clients_and_no_topic(node: httpx2.Client) -> None:
    schema_id = register(node, ":.eu:orders-value", "string")
    fetch(node, schema_id, "billing", scope="?subject=:.eu:")
    node.post("/contractlog/v1/conformance/orders", json=create_audit("orders", use(1, 3, "orders-value", 1)))
    (result,) = usages(node, ":.eu:orders-value")
    assert clients(result) == {("billing", 1, 1)}
    assert result["topics"] == []


def test_details_of_an_audit_that_cannot_be_read_are_left_out(node: httpx2.Client) -> None:
    strange = [{"schema_id": "x"}, {}, use(2, 0, "orders-value", 2), {"schema_id": 7, "records": 5},
               use(3, 10**30, "orders-value", 3), use(4, 1, "orders-value", -1), use(-1, 1, None, None)]  # fmt: skip
    entry = create_audit("orders", use(1, 3, "orders-value", 1)) | {"schemas": [use(1, 3, "orders-value", 1), *strange]}
    assert node.post("/contractlog/v1/conformance/orders", json=entry).status_code == 200
    (topic,) = usages(node, "orders-value")[0]["topics"]
    assert [(each["id"], each["subject"]) for each in topic["versions"]] == [(7, None), (1, "orders-value")]


def test_a_subject_without_versions_has_no_clients_and_an_invalid_one_is_an_error_of_its_member(
    node: httpx2.Client,
) -> None:
    unknown, invalid, nul = usages(node, "nowhere", "__GLOBAL", "a\0")
    assert unknown == {"subject": "nowhere", "clients": [], "client_count": 0, "topics": []}
    assert invalid["error_code"] == nul["error_code"] == 42208


@pytest.mark.parametrize(
    ("body", "query", "code"),
    [({}, "", 400), ({"subjects": ["a"] * 501}, "", 42282), ({"subjects": ["a"]}, "?days=0", 42281),
     ({"subjects": ["a"]}, "?zork=1", 42281)],
)  # fmt: skip
def test_a_wrong_request_is_rejected(body: Any, query: str, code: int) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        assert http.post(USAGE + query, json=body).json()["error_code"] == code


def test_a_caller_sees_only_what_the_permissions_cover(tmp_path: Path) -> None:
    file = tmp_path / "users.toml"
    rows = (("all", ["*"], ["*"]), ("team", ["orders-*"], []), ("key", ["orders-key"], []))
    file.write_text("\n".join(format_entry(n, HashedPassword.of("p", n=2, r=1, p=1), r, w) for n, r, w in rows))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as http:
        http.auth = ("all", "p")
        ids = [register(http, subject, "string") for subject in ("orders-value", "orders-key", "secret")]
        fetch(http, ids[0], "billing")
        hidden = use(ids[2], 5, "secret", 1)
        for part in ("value", "key"):
            entry = create_audit("orders", use(ids[0], 3, "orders-value", 1), hidden, part=part)
            assert http.post("/contractlog/v1/conformance/orders", json=entry).status_code == 200
        (whole,) = usages(http, "orders-value")
        assert whole["clients"]

        team = usages(http, "orders-value", "secret", auth=("team", "p"))
        assert "clients" not in team[0]
        assert "client_count" not in team[0]
        assert [each["subject"] for each in team[0]["topics"][0]["versions"]] == [None, "orders-value"]
        assert team[1] == {"error_code": 40301, "message": "User is denied operation Read on Subject: secret"}
        # The results of a topic need read permission on the subject of its values.
        assert usages(http, "orders-key", auth=("key", "p"))[0]["topics"] == []
        assert http.post(USAGE, json={"subjects": []}, auth=("nobody", "p")).status_code == 401


def test_a_subject_that_is_requested_several_times_is_read_once(
    node: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(node, "orders-value", "string")
    expected = usages(node, "orders-value")
    read: list[object] = []
    list_topics = queries.list_topics
    monkeypatch.setattr(
        queries, "list_topics", lambda snapshot, subject: read.append(subject) or list_topics(snapshot, subject)
    )
    assert usages(node, *["orders-value"] * 500) == expected * 500
    assert len(read) == 1
