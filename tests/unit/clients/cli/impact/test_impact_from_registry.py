"""``contractlog impact`` without a file reads the lineage that the registry has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import published_lineage as reads
from contractlog.clients.cli.impact import lineage_sources
from contractlog.compatibility.errors import InvalidQuery
from contractlog.registry.features.lineage import service
from contractlog.registry.testing import Registries
from contractlog.spark_validation.lineage.edge_output import build_events

from support.limited_servers import remove_extensions
from support.lineage_estates import make_edge
from support.lineage_events import KAFKA, columns, dataset, job_event
from support.operations import Run, runner

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)
EDGES = [
    make_edge("orders", "invoices", "amount", to="total"),
    make_edge("orders", "carriers", "legs{}.carrier", to="name"),
    make_edge("orders", "orders.mirror", "note", direction="unknown"),
]


@pytest.fixture
def app(registries: Registries) -> Iterator[Any]:
    made = registries.make({})
    yield made
    made.state.close()


@pytest.fixture
def registry(app: Any) -> Iterator[Registry]:
    with Registry(app=app) as client:
        yield client


@pytest.fixture
def run(app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    monkeypatch.chdir(tmp_path)
    return runner(app, monkeypatch, capsys)


@pytest.fixture
def published(registry: Registry) -> Registry:
    """The registry with edges found in values, and a step that a job declares."""
    registry.publish_lineage(build_events(EDGES, KAFKA, NOW))
    facet = columns({"sum": [("invoices", "total")]})
    registry.publish_lineage(job_event("daily", outputs=[dataset("daily", columnLineage=facet)]))
    return registry


def test_edges_of_all_kinds_of_evidence_are_followed(published: Registry, run: Run) -> None:
    ran = run("impact", "orders-value:amount")
    assert (ran.code, ran.out.splitlines()) == (
        exit_codes.CLEAN,
        [
            "a change of `orders-value:amount` reaches 2 fields of 2 topics",
            "depth  topic     field  made from       method    evidence  score",
            "    1  invoices  total  orders amount   copy      values    0.98",
            "    2  daily     sum    invoices total  declared  declared  1.00",
        ],
    )
    assert "4 fields of 4 topics" in run("impact", "orders").out


def test_json_is_that_of_a_file(published: Registry, run: Run) -> None:
    body = run("impact", ":.eu:orders-value:legs", "--format", "json").body
    assert body["truncated"] is False
    assert body["topics"] == ["orders"]
    assert [(each["topic"], each["field"]) for each in body["reached"]] == [("carriers", "name")]


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("ordrs-value", "has no topic of the subject `ordrs-value`; did you mean `orders`?"),
        ("zzz", "has no topic of the subject `zzz`: it has carriers, daily, invoices, orders, orders.mirror"),
        ("orders-value:amunt", "has no field `amunt` of `orders`; did you mean `amount`?"),
        ("orders-key:id", "is a subject of record keys, whose fields have no lineage yet"),
        ("orders:", "names no field"),
        ("a\x1b[2J/..", r"`a\x1b[2J/..`"),
    ],
)
def test_an_unknown_name_is_an_error_with_near_names(subject: str, message: str, published: Registry, run: Run) -> None:
    ran = run("impact", subject)
    assert ran.code == exit_codes.USAGE
    assert message in ran.err


def test_a_registry_without_lineage_says_how_to_publish(registry: Registry, run: Run) -> None:
    ran = run("impact", "orders-value")
    assert ran.code == exit_codes.USAGE
    assert "has no lineage that you may read" in ran.err
    assert "`contractlog lineage --state DIR --publish`" in ran.err


def test_edges_of_another_time_are_followed(published: Registry, run: Run) -> None:
    edge = published.lineage("invoices", direction="upstream")["edges"][0]
    then = datetime.fromtimestamp(edge["last_published_at"] / 1000, UTC).isoformat()
    published.publish_lineage(build_events([], KAFKA, NOW, topics=["invoices"]))
    assert "has no field `amount`" in run("impact", "orders:amount").err
    assert "invoices  total" in run("impact", "orders:amount", "--at", then).out
    ran = run("impact", "orders", "--at", "2013-07-01")
    assert ran.code == exit_codes.USAGE
    assert "has no lineage of 2013-07-01T00:00:00Z: an edge is known from the time when" in ran.err


def test_a_time_must_be_one_and_is_of_the_registry(published: Registry, run: Run, tmp_path: Path) -> None:
    (tmp_path / "lineage.json").write_text(json.dumps({"lineage": EDGES}))
    ran = run("impact", "orders", "--lineage", "lineage.json", "--at", "2026-11-27")
    assert ran.code == exit_codes.USAGE
    assert "--at is for the lineage that the registry has" in ran.err
    ran = run("impact", "orders", "--at", "soon")
    assert ran.code == exit_codes.USAGE
    assert "`soon` is not a date or time as in ISO 8601, such as 2026-11-01" in ran.err


def test_what_bounds_leave_out_is_said(published: Registry, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_NODES", 2)
    ran = run("impact", "orders")
    assert (ran.code, "more may be reached than listed" in ran.err) == (exit_codes.CLEAN, True)
    assert run("impact", "orders", "--format", "json").body["truncated"] is True


def test_a_step_is_not_cut_by_its_depth_but_by_bounds(published: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    assert published.lineage("orders", depth=1)["truncated"]
    assert not reads.read_topic_lineage(published, "orders", depth=1).truncated
    assert not reads.read_topic_lineage(published, "orders").truncated
    monkeypatch.setattr(reads, "MAX_GRAPH_EDGES", 3)
    assert reads.read_topic_lineage(published, "orders", depth=1).truncated


def test_a_list_is_read_up_to_its_limit(published: Registry) -> None:
    assert not reads.read_all_lineage(published, at=None, limit=4).truncated
    every = reads.read_all_lineage(published, at=None, limit=3)
    assert (len(every.edges), every.truncated) == (3, True)


def test_a_registry_of_another_maker_stores_no_lineage(
    app: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = runner(remove_extensions(app), monkeypatch, capsys)("impact", "orders")
    assert (ran.code, "stores no lineage; only contractlog does" in ran.err) == (exit_codes.USAGE, True)


def test_the_registry_may_be_that_of_an_environment(published: Registry, run: Run, tmp_path: Path) -> None:
    (tmp_path / "contractlog.toml").write_text('[environments.eu]\nregistry = "http://eu"\ncontext = ".eu"\n')
    assert run("impact", "orders").code == exit_codes.USAGE
    assert "4 fields of 4 topics" in run("impact", "orders", "--environment", "eu").out


def test_an_incomplete_answer_without_edges_does_not_say_that_nothing_is_made(
    published: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = reads.read_topic_lineage(published, "orders")
    monkeypatch.setattr(lineage_sources, "read_topic_lineage", _cut_downstream(read))
    result = run("impact", "invoices:total")
    assert result.code == exit_codes.FINDINGS
    assert "no field is known" not in result.out
    assert "whether anything is reached is not known" in result.err


def _cut_downstream(read: reads.PublishedLineage) -> Any:
    def cut(_registry: Registry, _topic: str, *, direction: str = "both", **_options: Any) -> reads.PublishedLineage:
        sources = [edge for edge in read.edges if edge["to"]["topic"] == "invoices"]
        return reads.PublishedLineage([] if direction == "downstream" else sources, truncated=direction == "downstream")

    return cut


def test_a_prefix_selects_edges_and_is_left_out_for_registries_that_do_not_know_it(
    published: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(reads.read_all_lineage(published, at=None, limit=9, prefix="dai").edges) == 1
    assert len(reads.read_all_lineage(published, at=None, limit=9, prefix="invoi").edges) == 2
    each = published.each_lineage_edge

    def reject(*, topic_prefix: str | None = None, **options: Any) -> Any:
        if topic_prefix:
            raise InvalidQuery(parameter="topicPrefix", detail="it is unknown here")
        return each(**options)

    monkeypatch.setattr(published, "each_lineage_edge", reject)
    assert len(reads.read_all_lineage(published, at=None, limit=9, prefix="dai").edges) == 4
