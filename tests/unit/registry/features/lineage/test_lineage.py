"""Lineage over HTTP: events in, graphs and lists out, within permissions and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.features.lineage import service
from contractlog.registry.settings import Settings
from contractlog.spark_validation.lineage.edge_output import build_events

from support.lineage_events import KAFKA, columns, dataset, dataset_event, event, explicit, job_event, run_event, source
from support.registry import in_process
from support.reports import traced_edge

PATH = "/contractlog/v1/lineage"
NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)


@pytest.fixture
def node(database_url: str) -> Iterator[httpx2.Client]:
    with in_process(Settings(database_url=database_url)) as client:
        yield client


def post(node: httpx2.Client, body: Any, **options: Any) -> dict[str, Any]:
    answer = node.post(PATH, json=body, **options)
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    return receipt


def graph(node: httpx2.Client, topic: str, *, auth: Any = None, **query: Any) -> dict[str, Any]:
    answer = node.get(f"{PATH}/{topic}", params=query, auth=auth)
    assert answer.status_code == 200, answer.text
    walked: dict[str, Any] = answer.json()
    return walked


def name_end(end: dict[str, Any]) -> str:
    dataset = end["name"] if end["namespace"] == KAFKA else f"{end['namespace']}/{end['name']}"
    return ".".join(filter(None, (dataset, end.get("field"))))


def name_edges(body: dict[str, Any]) -> set[str]:
    return {f"{name_end(edge['from'])} > {name_end(edge['to'])}" for edge in body["edges"]}


def chain(node: httpx2.Client, names: str) -> None:
    """Post a job for each step of a chain of topics."""
    for start, end in pairwise(names):
        post(node, job_event(f"{start}-{end}", inputs=[dataset(start)], outputs=[dataset(end)]))


def test_an_event_comes_back_as_edges_with_origin_and_times(node: httpx2.Client) -> None:
    change = {"type": "DIRECT", "subtype": "IDENTITY", "description": "id", "masking": False}
    facet = explicit(fields={"order_id": [source("orders", "id", transformations=[change])]})
    posted = run_event("RUNNING", inputs=[dataset("orders")], outputs=[dataset("paid", lineage=facet)])
    assert post(node, posted) == {"events": 1, "ignored": 0, "targets": 1, "edges": 1}
    walked = graph(node, "paid")
    (edge,) = walked["edges"]
    first = edge.pop("first_published_at")
    assert edge.pop("last_published_at") == first
    assert edge == {
        "from": {"namespace": KAFKA, "name": "orders", "field": "id"},
        "to": {"namespace": KAFKA, "name": "paid", "field": "order_id"},
        "evidence": "declared", "origin": "shop/enrich", "direction": "known", "transformations": [change],
    }  # fmt: skip
    assert walked["nodes"] == [
        {"namespace": KAFKA, "name": "paid", "topic": True, "distance": 0},
        {"namespace": KAFKA, "name": "orders", "topic": True, "distance": -1},
    ]
    assert walked["truncated"] is False


def test_edges_found_in_values_come_back_with_every_figure(node: httpx2.Client) -> None:
    edge: LineageEdge = {
        "from": {"topic": "orders", "field": "id"}, "to": {"topic": "paid", "field": "id"}, "direction": "unknown",
        "method": "copy", "score": 0.99, "support": 321, "lag_ms": 1500.0, "description": "id = id",
        "lag_quantiles_ms": {"p05": 1.0, "p50": 1500.0, "p95": 1e6}, "first_seen": "2013-01-01T00:00:00Z",
        "last_seen": "2013-07-01T00:00:00Z",
        "example": {"from": {"partition": 0, "offset": 7}, "to": {"partition": 1, "offset": 9}},
    }  # fmt: skip
    post(node, build_events([edge], KAFKA, NOW))
    (stored,) = graph(node, "paid")["edges"]
    assert {name: stored[name] for name in edge if name not in {"from", "to"}} == {
        name: value for name, value in edge.items() if name not in {"from", "to"}
    }
    assert (stored["evidence"], stored["origin"]) == ("values", "contractlog audit")
    post(node, build_events([], KAFKA, NOW, topics=["paid"]))
    assert graph(node, "paid")["edges"] == []


def test_edges_traced_in_headers_come_back_with_their_job_and_without_unknown_times(node: httpx2.Client) -> None:
    edge = traced_edge("orders", "paid", "pay")
    unknown: LineageEdge = {**edge, "first_seen": "", "last_seen": ""}
    post(node, build_events([unknown], KAFKA, NOW))
    (stored,) = graph(node, "paid")["edges"]
    assert (stored["evidence"], stored["method"], stored["job"]) == ("traced", "origin", "pay")
    assert stored["to"] == {"namespace": KAFKA, "name": "paid"}
    assert stored.keys().isdisjoint({"first_seen", "last_seen"})


def test_declared_edges_stand_beside_those_found_in_values(node: httpx2.Client) -> None:
    edge: LineageEdge = {"from": {"topic": "a", "field": "x"}, "to": {"topic": "b", "field": "x"}, "direction": "known",
                         "method": "copy", "score": 1.0, "support": 9, "lag_ms": None}  # fmt: skip
    post(node, build_events([edge], KAFKA, NOW))
    post(node, job_event(outputs=[dataset("b", lineage=explicit(fields={"x": [source("a", "x")]}))]))
    assert sorted(edge["evidence"] for edge in graph(node, "b")["edges"]) == ["declared", "values"]
    assert [edge["evidence"] for edge in graph(node, "b", evidence="declared")["edges"]] == ["declared"]
    assert [edge["evidence"] for edge in graph(node, "b", evidence="traced")["edges"]] == []


def test_walks_have_a_direction_and_a_depth(node: httpx2.Client) -> None:
    chain(node, "abcde")
    assert name_edges(graph(node, "c")) == {"a > b", "b > c", "c > d", "d > e"}
    assert name_edges(graph(node, "c", direction="upstream")) == {"a > b", "b > c"}
    assert name_edges(graph(node, "c", direction="downstream", depth=1)) == {"c > d"}
    assert graph(node, "c", direction="downstream", depth=1)["truncated"] is True
    assert graph(node, "c", direction="downstream", depth=2)["truncated"] is False
    distances = {node["name"]: node["distance"] for node in graph(node, "c")["nodes"]}
    assert distances == {"a": -2, "b": -1, "c": 0, "d": 1, "e": 2}


def test_cycles_end(node: httpx2.Client) -> None:
    chain(node, "abca")
    assert name_edges(graph(node, "a", direction="upstream")) == {"a > b", "b > c", "c > a"}


def test_the_number_of_nodes_and_edges_is_limited(node: httpx2.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    post(node, job_event(inputs=[dataset(f"s{number}") for number in range(20)], outputs=[dataset("t")]))
    for name in ("MAX_NODES", "MAX_GRAPH_EDGES", "_MAX_ROWS"):
        with monkeypatch.context() as patch:
            patch.setattr(service, name, 10)
            walked = graph(node, "t", direction="upstream")
            assert walked["truncated"] is True
            assert len(walked["nodes"]) <= 11
            assert 9 <= len(walked["edges"]) <= 10
    assert graph(node, "t")["truncated"] is False


def test_a_field_is_followed_from_topic_to_topic(node: httpx2.Client) -> None:
    def link(start: str, end: str, fields: dict[str, str]) -> None:
        facet = explicit(fields={to: [source(start, name)] for to, name in fields.items()})
        post(node, job_event(f"{start}-{end}", outputs=[dataset(end, lineage=facet)]))

    link("a", "b", {"customer.id": "id", "total": "sum"})
    link("b", "c", {"buyer": "customer.id", "cents": "total", "who": "customer"})
    post(node, job_event("whole", inputs=[dataset("table", "postgres://shop")], outputs=[dataset("a")]))
    assert name_edges(graph(node, "c", field="cents")) == {
        "b.total > c.cents", "a.sum > b.total", "postgres://shop/table > a"
    }  # fmt: skip
    assert name_edges(graph(node, "c", field="who", depth=2)) == {"b.customer > c.who", "a.id > b.customer.id"}
    assert name_edges(graph(node, "a", field="id", direction="downstream")) == {
        "a.id > b.customer.id", "b.customer.id > c.buyer", "b.customer > c.who"
    }  # fmt: skip
    assert graph(node, "c", field="nothing")["edges"] == []


def test_an_earlier_time_shows_the_edges_of_then(node: httpx2.Client) -> None:
    post(node, job_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    (edge,) = graph(node, "b")["edges"]
    then = datetime.fromtimestamp(edge["first_published_at"] / 1000, UTC).isoformat()
    before = datetime.fromtimestamp(edge["first_published_at"] / 1000 - 1, UTC).isoformat()
    assert graph(node, "b", at=then)["edges"] == [edge]
    assert graph(node, "b", at=before)["edges"] == []
    assert graph(node, "b", at="2013-07-01")["edges"] == []


def test_all_edges_are_listed_in_pages(node: httpx2.Client) -> None:
    chain(node, "abcdefg")
    listed: list[dict[str, Any]] = []
    query: dict[str, Any] = {"limit": 4}
    while True:
        page = node.get(PATH, params=query).json()
        listed += page["edges"]
        if "next" not in page:
            break
        query["after"] = page["next"]
    assert [name_end(edge["to"]) for edge in listed] == list("bcdefg")
    assert node.get(PATH, params={"evidence": "values"}).json() == {"edges": []}


def test_events_of_one_request_are_stored_together_or_not_at_all(http: httpx2.Client) -> None:
    first, second = (job_event(name, inputs=[dataset("a")], outputs=[dataset(name)]) for name in "bc")
    assert post(http, [first, second, run_event("START")]) == {"events": 3, "ignored": 1, "targets": 2, "edges": 2}
    answer = http.post(PATH, json=[job_event(inputs=[dataset("x")], outputs=[dataset("y")]), {"producer": "p"}])
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42283)
    assert answer.json()["message"] == "The lineage event is not valid: event 2: `schemaURL` is missing"
    assert graph(http, "y")["edges"] == []
    assert post(http, []) == {"events": 0, "ignored": 0, "targets": 0, "edges": 0}


@pytest.mark.parametrize(
    ("name", "limit", "message"),
    [
        ("_MAX_EVENTS", 2, "the request has 3 events; at most 2 are allowed"),
        ("_MAX_STATED", 5, "the request has more than 5 edges; send fewer events in each"),
    ],
)
def test_requests_are_limited(
    name: str, limit: int, message: str, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, name, limit)
    body = [job_event(inputs=[dataset("a"), dataset("b")], outputs=[dataset("c")])] * 3
    answer = http.post(PATH, json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42283)
    assert answer.json()["message"] == f"The lineage event is not valid: {message}"


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"", 422), (b"[", 400), (b'"event"', 400), (b"[1]", 400), (rb'{"producer": "\ud800"}', 400), (b"[" * 9_999, 400)],
)
def test_other_bodies_are_rejected(body: bytes, code: int, http: httpx2.Client) -> None:
    answer = http.post(PATH, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == code, answer.text


def test_a_body_of_more_than_a_mebibyte_is_rejected(http: httpx2.Client) -> None:
    answer = http.post(PATH, json=dataset_event("a" * 2**20))
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("query", "parameter"),
    [("at=yesterday", "at"), ("evidence=guessed", "evidence"), ("direction=up", "direction"), ("depth=17", "depth")],
)
def test_wrong_parameters_are_named(query: str, parameter: str, http: httpx2.Client) -> None:
    answer = http.get(f"{PATH}/a?{query}")
    assert (answer.status_code, answer.json()["error_code"]) == (422, 42281)
    assert f"'{parameter}'" in answer.json()["message"]


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[httpx2.Client]:
    """A registry with an administrator, and users with permissions on some topics."""
    users = {
        "admin": {"read": [], "write": ["*"]},
        "shop": {"read": ["customers-*"], "write": ["orders-*", "paid-*"]},
        "ends": {"read": ["a-value", "c-value", "d-value"], "write": []},
        "tables": {"read": ["a-value", "postgres://shop/*"], "write": ["a-value", "file/*"]},
    }
    file = tmp_path / "users.toml"
    passwords = {name: HashedPassword.of(name, n=2, r=1, p=1) for name in users}  # weak, so that they cost nothing
    file.write_text("".join(format_entry(name, passwords[name], **each) for name, each in users.items()))
    with in_process(Settings(database_url="sqlite://", users_file=str(file))) as client:
        yield client


def test_an_edge_is_shown_to_callers_who_may_read_both_ends(secured: httpx2.Client) -> None:
    admin = ("admin", "admin")
    for start, end in ("ab", "bc", "cd"):
        post(secured, job_event(start, inputs=[dataset(start)], outputs=[dataset(end)]), auth=admin)
    assert name_edges(graph(secured, "c", auth=admin)) == {"a > b", "b > c", "c > d"}
    walked = graph(secured, "c", auth=("ends", "ends"))
    assert name_edges(walked) == {"c > d"}
    assert {node["name"] for node in walked["nodes"]} == {"c", "d"}
    assert walked["truncated"] is False  # it would tell that there is something
    assert graph(secured, "a", auth=("ends", "ends"))["nodes"] == []
    listed = secured.get(PATH, auth=("ends", "ends")).json()
    assert name_edges(listed) == {"c > d"}
    answer = secured.get(f"{PATH}/b", auth=("ends", "ends"))
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40301)
    assert secured.get(PATH).status_code == 401


def test_hidden_edges_are_no_part_of_pages(secured: httpx2.Client) -> None:
    post(
        secured,
        job_event("1", inputs=[dataset(f"x{n}") for n in range(9)], outputs=[dataset("y")]),
        auth=("admin",) * 2,
    )
    post(secured, job_event("2", inputs=[dataset("c")], outputs=[dataset("d")]), auth=("admin", "admin"))
    page = secured.get(PATH, params={"limit": 1}, auth=("ends", "ends")).json()
    assert name_edges(page) == {"c > d"}
    assert "next" not in page
    assert secured.get(PATH, params={"limit": 1}, auth=("shop", "shop")).json() == {"edges": []}


def test_edges_that_others_state_of_a_topic_do_not_displace_those_of_its_owner(
    secured: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_MAX_ROWS", 6)
    for number in range(20):
        event = job_event(f"x{number}", inputs=[dataset("c")], outputs=[dataset(f"x{number}")])
        post(secured, event, auth=("admin", "admin"))
    post(secured, job_event("owner", inputs=[dataset("c")], outputs=[dataset("d")]), auth=("admin", "admin"))
    walked = graph(secured, "c", auth=("ends", "ends"), direction="downstream")
    assert (name_edges(walked), walked["truncated"]) == ({"c > d"}, False)


def test_a_dataset_that_is_no_topic_has_the_permissions_of_its_name(secured: httpx2.Client) -> None:
    table, file = dataset("public.a", "postgres://shop"), dataset("/data/a.csv", "file")
    post(secured, job_event("in", inputs=[table], outputs=[dataset("a")]), auth=("admin", "admin"))
    post(secured, job_event("out", inputs=[dataset("a")], outputs=[file]), auth=("tables", "tables"))
    assert name_edges(graph(secured, "a", auth=("tables", "tables"))) == {
        "postgres://shop/public.a > a", "a > file//data/a.csv"
    }  # fmt: skip
    assert graph(secured, "a", auth=("ends", "ends"))["edges"] == []


def test_events_need_write_permission_on_each_of_their_targets(secured: httpx2.Client) -> None:
    shop = ("shop", "shop")
    post(secured, job_event(inputs=[dataset("secrets")], outputs=[dataset("orders")]), auth=shop)
    assert graph(secured, "orders", auth=shop)["edges"] == []  # published, but one end is not theirs to read
    assert name_edges(graph(secured, "orders", auth=("admin", "admin"))) == {"secrets > orders"}
    both = job_event(inputs=[dataset("orders")], outputs=[dataset("paid"), dataset("customers")])
    answer = secured.post(
        PATH, json=[job_event(inputs=[dataset("orders")], outputs=[dataset("paid")]), both], auth=shop
    )
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40301)
    assert answer.json()["message"] == "User is denied operation Write on Subject: customers-value"
    assert graph(secured, "paid", auth=shop)["edges"] == []
    answer = secured.post(PATH, json=event("DatasetEvent", dataset=dataset("x")), auth=("ends", "ends"))
    assert answer.status_code == 403
    column = columns({"x": [("orders", "x")]})
    post(secured, run_event("FAIL", outputs=[dataset("customers", columnLineage=column)]), auth=shop)  # states nothing
