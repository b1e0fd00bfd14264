"""``contractlog lineage --published`` shows the edges of a registry, in each format and at any time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.registry.testing import Registries
from contractlog.spark_validation.jobs import registry_lineage
from contractlog.spark_validation.lineage.edge_output import build_events

from support.lineage_estates import make_edge
from support.lineage_events import KAFKA, columns, dataset, job_event
from support.operations import Run, runner
from support.registry import create_sqlite, serve_in_thread

NOW = datetime(2026, 11, 27, 10, tzinfo=UTC)
TRACED: LineageEdge = {**make_edge("orders", "invoices", "", evidence="traced", method="origin"), "job": "bill"}
EDGES = [
    make_edge("orders", "invoices", "amount", to="total"),
    make_edge("orders", "orders.mirror", "note", direction="unknown"),
    TRACED,
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
def run(app: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    return runner(app, monkeypatch, capsys)


@pytest.fixture
def published(registry: Registry) -> Registry:
    """The registry with edges of each kind of evidence."""
    publish_edges(registry)
    return registry


def publish_edges(registry: Registry) -> None:
    registry.publish_lineage(build_events(EDGES, KAFKA, NOW))
    facet = columns({"total": [("orders", "amount")]})
    registry.publish_lineage(job_event("bill", outputs=[dataset("invoices", columnLineage=facet)]))
    table = dataset("public.totals", "postgres://shop")
    registry.publish_lineage(job_event("load", inputs=[dataset("invoices")], outputs=[table]))


def split_cells(text: str) -> list[list[str]]:
    return [[cell for cell in line.strip().split("  ") if cell] for line in text.splitlines()]


def test_text_has_each_edge_with_evidence_origin_and_life(published: Registry, run: Run) -> None:
    ran = run("lineage", "invoices", "--published")
    assert ran.code == exit_codes.CLEAN
    heading, *rows = [[cell.strip() for cell in cells] for cells in split_cells(ran.out)]
    assert heading == ["invoices was made from"]
    assert all(row[-1].startswith("appeared 20") and row[-1].endswith("Z") for row in rows)
    assert [row[:-1] for row in rows] == [
        ["(whole topic)", "<- orders", "traced", "origin", "score 0.9800", "support 812", "lag 15.4 s",
         "by contractlog audit", "job bill"],
        ["total", "<- orders.amount", "declared", "by shop/bill"],
        ["total", "<- orders.amount", "values", "copy", "score 0.9800", "support 812", "lag 15.4 s",
         "by contractlog audit"],
    ]  # fmt: skip


def test_all_topics_are_shown_unless_some_are_named_or_match(published: Registry, run: Run) -> None:
    headings = [
        "invoices was made from",
        "orders.mirror was made from, or the reverse (direction unknown)",
        "postgres://shop/public.totals was made from",
    ]
    for arguments, expected in (
        ((), headings),
        (("inv*",), headings[:1]),
        (("orders",), headings[1:2]),
        (("postgres*", "invoices"), headings[::2]),
    ):
        lines = run("lineage", *arguments, "--published").out.splitlines()
        assert [line for line in lines if line and not line.startswith(" ")] == expected


def test_json_is_a_source_of_impact_and_has_the_life_of_edges(published: Registry, run: Run, tmp_path: Path) -> None:
    out = tmp_path / "lineage.json"
    ran = run("lineage", "--published", "--format", "json", "--out", str(out))
    assert (ran.out, f"5 edges are in {out}" in ran.err) == ("", True)
    body = json.loads(out.read_text())
    assert body["format"] == "contractlog.lineage/1"
    assert {"topic": "orders", "fields": ["amount", "note"]} in body["topics"]
    assert [edge["evidence"] for edge in body["lineage"]] == ["traced", "declared", "values", "values", "declared"]
    assert all(edge["appeared"] == edge["last_published"] for edge in body["lineage"])
    assert [edge["origin"] for edge in body["lineage"]][1:3] == ["shop/bill", "contractlog audit"]
    ran = run("impact", "orders:amount", "--lineage", str(out))
    assert "reaches 3 fields of 2 topics" in ran.out


def test_edges_of_a_time_have_the_time_when_they_vanished(published: Registry, run: Run) -> None:
    edge = published.lineage("invoices", evidence="values")["edges"][0]
    then = datetime.fromtimestamp(edge["last_published_at"] / 1000, UTC).isoformat()
    published.publish_lineage(build_events([], KAFKA, NOW, topics=["invoices"]))
    assert "values" not in run("lineage", "invoices", "--published").out
    assert "vanished" not in run("lineage", "--published", "--format", "json").out
    ran = run("lineage", "invoices", "--published", "--at", then)
    assert ["vanished" in line for line in ran.out.splitlines() if "values" in line] == [True]
    *_, last = run("lineage", "invoices", "--published", "--at", then, "--format", "json").body["lineage"]
    assert (last["evidence"], last["vanished"] >= last["appeared"]) == ("values", True)
    ran = run("lineage", "--published", "--at", "2013-07-01")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "No lineage is published.\n")
    assert "has no lineage of 2013-07-01T00:00:00Z: an edge is known from the time" in ran.err


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("tree", "  made from\n    orders  (1 field, copy, declared; named in headers)\n  used for\n"),
        ("mermaid", "flowchart LR\n"),
        ("dot", '"orders" -> "invoices"'),
        ("html", "declared by an OpenLineage event"),
    ],
)
def test_pictures_have_all_kinds_of_evidence(form: str, text: str, published: Registry, run: Run) -> None:
    ran = run("lineage", "invoices", "--published", "--format", form)
    assert (ran.code, text in ran.out) == (exit_codes.CLEAN, True)
    assert ("postgres://shop/public.totals" in ran.out) == (form == "tree")  # a tree goes over all steps


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ordrs",), "has no lineage of topic `ordrs`; did you mean `orders`?"),
        (("x*",), "has no lineage of topic `x*`: it has that of invoices, orders, orders.mirror, postgres:"),
        (("orders", "--at", "2013-07-01"), "has no lineage of 2013-07-01T00:00:00Z"),
        (("--state", "audit"), "--published shows what the registry has, and reads nothing else: leave out --state"),
        (("--publish",), "leave out --publish"),
        (("--since", "2026-11-01"), "leave out --since"),
        (("--format", "openlineage"), "pass --format json"),
        (("--at", "soon"), "`soon` is not a date or time as in ISO 8601"),
    ],
)
def test_wrong_arguments_are_usage_errors(
    arguments: tuple[str, ...], message: str, published: Registry, run: Run
) -> None:
    ran = run("lineage", "--published", *arguments)
    assert (ran.code, ran.out) == (exit_codes.USAGE, "")
    assert message in ran.err


def test_a_time_without_published_is_a_usage_error(run: Run) -> None:
    ran = run("lineage", "--state", "audit", "--at", "2013-07-01")
    assert ran.code == exit_codes.USAGE
    assert "--at is for the lineage that the registry has: add --published" in ran.err


def test_a_registry_without_lineage_says_how_to_publish(registry: Registry, run: Run) -> None:
    ran = run("lineage", "--published")
    assert (ran.code, ran.out) == (exit_codes.CLEAN, "No lineage is published.\n")
    assert "`contractlog lineage --state DIR --publish`" in ran.err
    assert run("lineage", "--published", "--format", "json").body["lineage"] == []
    assert run("lineage", "orders", "--published").code == exit_codes.USAGE


def test_edges_beyond_the_limit_are_said_to_be_left_out(
    published: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_lineage, "_MAX_EDGES", 2)
    ran = run("lineage", "--published", "--format", "json")
    assert len(ran.body["lineage"]) == 2
    assert "the registry has more edges than are shown" in ran.err
    assert "more edges" not in run("lineage", "invoices", "--published").err


def test_a_glob_finds_topics_beyond_the_first_edges_and_an_error_says_what_was_read(
    published: Registry, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.publish_lineage(job_event("late", inputs=[dataset("new-a")], outputs=[dataset("new-b")]))
    monkeypatch.setattr(registry_lineage, "_MAX_EDGES", 1)
    assert run("lineage", "new*", "--published").code == exit_codes.CLEAN
    ran = run("lineage", "*-absent", "--published")
    assert ran.code == exit_codes.USAGE
    assert "Only its first 1 edges were read; it has more" in ran.err


def test_hostile_names_do_not_reach_the_terminal(registry: Registry, run: Run) -> None:
    registry.publish_lineage(job_event("x\x1b[2J", inputs=[dataset("a\x1b[2J")], outputs=[dataset("b\n::error::")]))
    for form in ("text", "tree", "json", "mermaid", "dot"):
        ran = run("lineage", "--published", "--format", form)
        assert "\x1b" not in ran.out
        assert "\n::error" not in ran.out


def test_a_served_registry_is_read_without_spark_and_kafka(tmp_path: Path) -> None:
    with serve_in_thread(create_sqlite(tmp_path / "registry.db")) as url:
        with Registry(url) as client:
            publish_edges(client)
        command = ["lineage", "invoices", "--published", "--registry", url]
        script = (
            f"from contractlog.clients.cli.main import main\ncode = main({command!r})\nimport sys\n"
            "print(code, *{'pyspark', 'pyarrow', 'numpy', 'pandas', 'confluent_kafka'} & sys.modules.keys())"
        )
        done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    *lines, last = done.stdout.splitlines()
    assert (len(lines), last) == (4, "0")
