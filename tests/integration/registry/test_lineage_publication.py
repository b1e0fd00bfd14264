"""Lineage reaches the registry from the command line and from OpenLineage clients, and is read back."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset
from openlineage.client.transport.http import HttpConfig, HttpTransport
from requests import HTTPError

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.spark_validation.jobs.lineage_publication import publish_report_lineage
from contractlog.spark_validation.lineage.edge_output import build_events
from contractlog.spark_validation.state.state_files import write_state

from support.lineage_events import KAFKA, PRODUCER, RUN, columns, dataset, job_event
from support.openlineage_classes import to_dataset_event
from support.registry import create_sqlite, serve_in_thread
from support.reports import edge, part, report
from support.sampled_topics import Record, sample_topics

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)
ENDPOINT = "contractlog/v1/lineage"
EDGE: LineageEdge = {
    "from": {"topic": "clicks", "field": "at"}, "to": {"topic": "visits", "field": "start"}, "direction": "known",
    "method": "function", "score": 0.97, "support": 400, "lag_ms": 1234.5, "evidence": "values",
    "description": "start = min(at)", "lag_quantiles_ms": {"p05": 1.0, "p50": 1234.5, "p95": 9e3},
    "first_seen": "2013-01-01T00:00:00Z", "last_seen": "2013-07-01T00:00:00Z",
    "example": {"from": {"partition": 0, "offset": 3}, "to": {"partition": 1, "offset": 4}},
}  # fmt: skip
START = 1_700_000_000_000
ORDERS: list[Record] = [(START + n * 60_000, {"id": f"order {n}", "total": n * 37 % 1009}) for n in range(900)]
LATE: list[Record] = [(time + 2000, {"order": value["id"], "total": value["total"]}) for time, value in ORDERS[::2]]


def stored(url: str, topic: str) -> list[dict[str, Any]]:
    with Registry(url) as registry:
        edges: list[dict[str, Any]] = registry.lineage(topic, direction="upstream")["edges"]
    return edges


def test_our_events_travel_as_generated_classes_through_the_http_transport_and_are_read_back(registry_url: str) -> None:
    (event,) = build_events([EDGE], KAFKA, NOW)
    client = OpenLineageClient(transport=HttpTransport(HttpConfig(url=registry_url, endpoint=ENDPOINT)))
    client.emit(to_dataset_event(event))
    client.close()
    (edge,) = stored(registry_url, "visits")
    ends = {
        "from": {"namespace": KAFKA, "name": "clicks", "field": "at"},
        "to": {"namespace": KAFKA, "name": "visits", "field": "start"},
    }
    times = {name: edge[name] for name in ("first_published_at", "last_published_at")}
    assert edge == {**EDGE, **ends, **times, "origin": "contractlog audit"}


def test_a_run_of_a_job_is_declared_lineage(registry_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_URL", registry_url)  # as docs/lineage.md has it
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", ENDPOINT)
    facet = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"order_id": column_lineage_dataset.Fields([column_lineage_dataset.InputField(KAFKA, "orders", "id")])}
    )
    client = OpenLineageClient()
    for state in (RunState.START, RunState.RUNNING, RunState.COMPLETE):
        client.emit(
            RunEvent(
                eventType=state,
                eventTime=NOW.isoformat(),
                run=Run(RUN["runId"]),
                job=Job("shop", "pay"),
                producer=PRODUCER,
                inputs=[InputDataset(KAFKA, "orders")],
                outputs=[OutputDataset(KAFKA, "paid", facets={"columnLineage": facet})],
            )
        )
    client.close()
    (edge,) = stored(registry_url, "paid")
    assert (edge["evidence"], edge["origin"], edge["from"]["field"]) == ("declared", "shop/pay", "id")


def test_a_client_without_permission_gets_an_error_and_one_with_it_uses_a_header(tmp_path: Path) -> None:
    users = tmp_path / "users.toml"
    users.write_text(
        format_entry("pay", HashedPassword.of("secret", n=2, r=1, p=1), read=[], write=["paid-*", "orders-*"])
    )
    header = {"Authorization": f"Basic {base64.b64encode(b'pay:secret').decode()}"}
    url = create_sqlite(tmp_path / "registry.db")
    with serve_in_thread(url, CONTRACTLOG_USERS_FILE=str(users)) as registry_url:
        config = HttpConfig(url=registry_url, endpoint=ENDPOINT, custom_headers=header, retry={"total": 0})
        client = OpenLineageClient(transport=HttpTransport(config))
        (allowed,) = build_events([{**EDGE, "to": {"topic": "paid", "field": "x"}}], KAFKA, NOW)
        client.emit(to_dataset_event(allowed))
        with pytest.raises(HTTPError, match="403"):
            client.emit(to_dataset_event(build_events([EDGE], KAFKA, NOW)[0]))
        anonymous = HttpTransport(HttpConfig(url=registry_url, endpoint=ENDPOINT, retry={"total": 0}))
        with pytest.raises(HTTPError, match="401"):
            anonymous.emit(to_dataset_event(allowed))
        client.close()


@pytest.fixture
def audited(tmp_path: Path) -> Path:
    write_state(sample_topics({"orders": ORDERS, "late": LATE}), tmp_path / "audit")
    return tmp_path / "audit"


def test_the_command_publishes_what_it_found_beside_what_jobs_declare(
    audited: Path, tmp_path: Path, registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = tmp_path / "events.ndjson"
    facet = columns({"order": [("orders", "id")]})
    declared.write_text(json.dumps(job_event(outputs=[dataset("late", columnLineage=facet)])) + "\n")
    command = ["lineage", "--state", str(audited), "--publish", "--bootstrap-servers", "broker:9092"]
    assert main([*command, "--declared", str(declared), "--registry", registry_url]) == 0
    assert f"published 3 events to {registry_url}" in capsys.readouterr().err
    edges = {(edge["evidence"], edge["from"]["field"], edge["to"]["field"]) for edge in stored(registry_url, "late")}
    assert edges == {("values", "id", "order"), ("values", "total", "total"), ("declared", "id", "order")}


def test_what_was_published_is_shown_and_followed(
    audited: Path, registry_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["lineage", "--state", str(audited), "--publish", "--bootstrap-servers", "broker:9092"]
    assert main([*command, "--registry", registry_url]) == 0
    capsys.readouterr()
    assert main(["lineage", "late", "--published", "--registry", registry_url, "--format", "json"]) == 0
    edges = json.loads(capsys.readouterr().out)["lineage"]
    assert {"id", "total"} <= {edge["from"]["field"] for edge in edges if edge["evidence"] == "values"}
    assert main(["impact", "orders-value:id", "--registry", registry_url]) == 0
    rows = [line.split()[1:6] for line in capsys.readouterr().out.splitlines()]
    assert ["late", "order", "orders", "id", "copy"] in rows


def test_edges_that_are_no_longer_found_have_vanished(audited: Path, tmp_path: Path, registry_url: str) -> None:
    options = ["--publish", "--bootstrap-servers", "broker:9092", "--registry", registry_url]
    assert main(["lineage", "--state", str(audited), *options]) == 0
    (first, *_) = [edge for edge in stored(registry_url, "late") if edge["evidence"] == "values"]
    write_state(sample_topics({"orders": ORDERS, "late": [(time, {"a": n}) for n, (time, _) in enumerate(LATE)]}),
                tmp_path / "other")  # fmt: skip
    assert main(["lineage", "orders", "--state", str(tmp_path / "other"), *options]) == 0
    assert [edge for edge in stored(registry_url, "late") if edge["evidence"] == "values"] != []  # was not asked for
    assert main(["lineage", "late", "--state", str(tmp_path / "other"), *options]) == 0
    assert [edge for edge in stored(registry_url, "late") if edge["evidence"] == "values"] == []
    with Registry(registry_url) as registry:
        then = datetime.fromtimestamp(first["last_published_at"] / 1000, UTC).isoformat()
        edges = registry.lineage("late", at=then, evidence="values")["edges"]
    assert first["from"] in [edge["from"] for edge in edges]


def test_publishing_needs_the_name_of_the_cluster_before_anything_else(
    audited: Path, registry_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    assert main(["lineage", "--state", str(audited), "--publish", "--registry", registry_url]) == 2
    told = capsys.readouterr()
    assert "give it with --bootstrap-servers HOST:PORT" in told.err
    assert "finding lineage" not in told.err


def test_a_registry_that_is_not_there_is_an_error(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--publish", "--bootstrap-servers", "broker:9092", "--registry", "http://127.0.0.1:9"]
    assert main(["lineage", "--state", str(audited), *options]) == 3
    assert "127.0.0.1:9" in capsys.readouterr().err


def test_an_audit_of_all_topics_of_a_cluster_publishes_its_lineage(registry: Registry) -> None:
    audit = report(part("wind"), part("rain"), edges=[edge("rain", "wind", "a")])
    for selection, message in (
        ({"topics": ["wind"]}, "the lineage is not published, because sources may be among the topics"),
        ({"excluded": ["snow"]}, "the lineage is not published, because sources may be among the topics"),
        ({}, "published the lineage of 2 topics to "),
    ):
        scope = {**audit["scope"], **selection}
        assert publish_report_lineage(registry, {**audit, "scope": scope}).startswith(message)  # type: ignore[typeddict-item]
        assert len(registry.lineage("wind")["edges"]) == (not selection)
    source = {"kind": "archive", "archive": "a"}
    assert "an archive does not name" in publish_report_lineage(registry, {**audit, "source": source})  # type: ignore[typeddict-item]
