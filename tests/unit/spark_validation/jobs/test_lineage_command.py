"""``contractlog lineage`` reads states, prints its formats, and reports empty results."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from contractlog.clients.cli.main import main
from contractlog.contracts.audit.mergeable_state import AuditState, Coverage
from contractlog.contracts.audit.record_origins import OriginCounts, OriginKey, OriginPosition, TopicOrigins
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.jobs.lineage_publication import _split_batches
from contractlog.spark_validation.state.state_files import read_state, write_state

from support.lineage_events import columns, dataset, job_event
from support.sampled_topics import Record, sample_topics

START = 1_700_000_000_000
ORDERS: list[Record] = [
    (START + number * 60_000, {"id": f"order {number}", "total": number * 37 % 1009, "note\x1b[2J": str(number % 7)})
    for number in range(900)
]
LATE: list[Record] = [
    (time + 2000, {"order": value["id"], "total": value["total"]}) for time, value in ORDERS if value["total"] > 300
]


@pytest.fixture
def audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that an audit of two topics leaves, as far as lineage reads it."""
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    out = tmp_path / "audit"
    write_state(sample_topics({"orders": ORDERS, "late": LATE}), out / "state")
    return out


def test_text_tells_what_each_topic_was_made_from(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lineage", "--state", str(audited / "state")]) == 0
    told = capsys.readouterr()
    first, *fields = told.out.splitlines()[:3]
    assert first == "late was made from"
    assert [line.split() for line in fields] == [
        ["order", "<-", "orders.id", "copy", "score", "1.0000", "support", fields[0].split()[7], "lag", "2.0", "s"],
        ["total", "<-", "orders.total", "copy", "score", "1.0000", "support", fields[1].split()[7], "lag", "2.0", "s"],
    ]
    assert "Lineage covers fields that were copied" in told.out
    first, last, note = told.err.splitlines()
    assert "CONTRACTLOG_SAMPLE_KEY" in note
    assert first == "finding lineage: 0 of 4 comparisons of two topics"
    assert last.startswith("finding lineage: 4 of 4 comparisons of two topics, ")


def test_the_folder_of_an_audit_will_do_as_well_as_its_state(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lineage", "--state", str(audited), "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["topics"] == [
        {"topic": "late", "fields": ["order", "total"]},
        {"topic": "orders", "fields": ["id", "note\x1b[2J", "total"]},
    ]
    edges = printed["lineage"]
    assert [edge["to"] for edge in edges] == [{"topic": "late", "field": "order"}, {"topic": "late", "field": "total"}]
    assert all(edge.keys() == LineageEdge.__annotations__.keys() - {"job"} for edge in edges)


def test_topics_that_are_named_are_those_whose_sources_are_asked_for(
    audited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lineage", "orders", "--state", str(audited)]) == 0
    assert capsys.readouterr().out.startswith("No lineage was found in the values of orders.\n")
    assert main(["lineage", "late", "--state", str(audited)]) == 0
    assert capsys.readouterr().out.startswith("late was made from\n")
    assert main(["lineage", "other", "--state", str(audited)]) == 2
    assert "no topic `other` was audited, only late, orders" in capsys.readouterr().err


def test_a_tree_has_the_topics_in_both_directions(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for topic, title, other in (("late", "made from", "orders"), ("orders", "used for", "late")):
        assert main(["lineage", topic, "--state", str(audited), "--format", "tree"]) == 0
        told = capsys.readouterr().out
        assert told.splitlines()[:3] == [topic, f"  {title}", f"    {other}  (2 fields, copy)"]


@pytest.mark.parametrize(("form", "start"), [("mermaid", "flowchart LR\n"), ("dot", "digraph lineage {\n")])
def test_diagrams_are_nothing_but_the_diagram(
    form: str, start: str, audited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lineage", "--state", str(audited), "--format", form]) == 0
    told = capsys.readouterr().out
    assert told.startswith(start)
    assert "2 fields, copy" in told
    assert "Lineage covers" not in told


def test_the_page_has_the_topics_that_were_audited_and_their_edges(
    audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lineage.html"
    assert main(["lineage", "--state", str(audited), "--format", "html", "--out", str(out)]) == 0
    page = out.read_text()
    assert page.startswith("<!doctype html>")
    assert "1 topic was made from others, directly." in page
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("form", ["json", "openlineage"])
def test_json_of_hostile_topics_is_valid_and_commands_nothing(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "##[error]\u202e\x85\n::error::x"
    write_state(sample_topics({"orders": ORDERS, hostile: LATE}), tmp_path / "state")
    command = ["lineage", "--state", str(tmp_path), "--format", form, "--bootstrap-servers", "##[error]:9092"]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert json.dumps(hostile)[len('"##') : -1] in told
    assert "##" not in told
    assert json.loads(told)
    assert told.isascii()


def test_openlineage_goes_to_a_file_whole(audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "edges.ndjson"
    arguments = ["lineage", "--state", str(audited), "--format", "openlineage", "--out", str(out)]
    assert main([*arguments, "--bootstrap-servers", "broker:9092"]) == 0
    (line,) = out.read_text().splitlines()
    assert json.loads(line)["dataset"]["name"] == "late"
    assert json.loads(line)["dataset"]["namespace"] == "kafka://broker:9092"
    told = capsys.readouterr()
    assert told.out == ""
    assert "2 edges" in told.err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_openlineage_names_the_broker_that_the_report_names_or_asks(
    audited: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["lineage", "--state", str(audited / "state"), "--format", "openlineage"]
    assert main(arguments) == 2
    assert "--bootstrap-servers" in capsys.readouterr().err
    (audited / "report.json").write_text('{"source": {"kind": "kafka", "bootstrap_servers": "told:9"}}')
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["dataset"]["namespace"] == "kafka://told:9"
    (audited / "report.json").write_text('["no report"]')
    assert main(arguments) == 2
    os.truncate(audited / "report.json", 65 * 1024 * 1024)
    assert main(arguments) == 2
    assert "report.json` cannot be read: it is larger than 67,108,864 bytes" in capsys.readouterr().err


def test_a_state_without_samples_is_said_to_be_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_state(AuditState(frozenset({Coverage("orders", 0, 0, 9, 9)})), tmp_path)
    assert main(["lineage", "--state", str(tmp_path)]) == 0
    assert "no samples of values" in capsys.readouterr().out
    assert main(["lineage", "--state", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "format": "contractlog.lineage/1",
        "topics": [{"topic": "orders", "fields": []}],
        "lineage": [],
    }


@pytest.fixture
def traced(audited: Path) -> Path:
    """The same audit, with headers that name a source."""
    counts = OriginCounts(2, START, START, example=OriginPosition(0, 5, 3, 42))
    origins = TopicOrigins({OriginKey("contractlog.origin", "orders", "filter-late"): counts}, invalid=1)
    state = read_state(audited / "state")
    write_state(replace(state, origins={"late": origins}), audited / "state")
    return audited


def test_edges_traced_in_headers_have_a_block_of_their_own(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lineage", "late", "--state", str(traced)]) == 0
    told = capsys.readouterr()
    in_values, in_headers = told.out.split("Traced in headers")
    assert "late was made from" in in_values
    assert "contractlog" not in in_values
    assert "  <- orders  2 records  job filter-late  3/42 -> 0/5" in in_headers
    assert "late: 1 provenance header is not in the format." in told.err
    assert main(["lineage", "orders", "--state", str(traced)]) == 0
    assert "Traced in headers" not in capsys.readouterr().out


def test_json_has_the_evidence_of_an_edge(traced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lineage", "--state", str(traced), "--format", "json"]) == 0
    *in_values, last = json.loads(capsys.readouterr().out)["lineage"]
    assert [edge.get("evidence", "values") for edge in in_values] == ["values", "values"]
    assert (last["evidence"], last["job"], last["to"]) == ("traced", "filter-late", {"topic": "late", "field": ""})


def test_headers_are_enough_without_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts = OriginCounts(2, START, START)
    origins = {"late": TopicOrigins({OriginKey("k2k_topic", "orders", ""): counts})}
    write_state(AuditState(frozenset({Coverage("late", 0, 0, 9, 9)}), origins=origins), tmp_path)
    assert main(["lineage", "--state", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "no samples of values" in told
    assert "  <- orders  2 records" in told
    assert main(["lineage", "--state", str(tmp_path), "--format", "tree"]) == 0
    assert "late  (named in headers)" in capsys.readouterr().out


def test_unreadable_or_unwritable_files_are_usage_errors(
    audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lineage", "--state", str(tmp_path / "nothing")]) == 2
    assert "nothing" in capsys.readouterr().err
    assert main(["lineage", "--state", str(audited), "--out", str(tmp_path / "no folder" / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err
    (audited / "state" / "samples.parquet").write_bytes(b"no table")
    assert main(["lineage", "--state", str(audited)]) == 2
    assert "has no readable state of an audit" in capsys.readouterr().err
    hostile = ("[" * 100_000, "[]", "\\", '{"unsampled": 3}', '{"unsampled": ["abc"]}', '{"unsampled": [["a", 1, []]]}')
    for text in hostile:
        (audited / "state" / "state.json").write_text(text)
        assert main(["lineage", "--state", str(audited)]) == 2
        assert "has no readable state of an audit: `state.json` is not a JSON object" in capsys.readouterr().err


def test_without_a_state_or_a_place_to_audit_it_asks_for_one(audited: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lineage"]) == 2
    assert "--bootstrap-servers" in capsys.readouterr().err


def test_hostile_names_of_fields_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = [(time + 2000, value) for time, value in ORDERS[::2]]
    write_state(sample_topics({"orders": ORDERS, "again": again}), tmp_path)
    assert main(["lineage", "--state", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert r"orders.note\x1b[2J" in out


def declare(tmp_path: Path, *events: object) -> str:
    file = tmp_path / "events.ndjson"
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in events))
    return str(file)


def test_declared_edges_stand_beside_those_found_in_values_each_with_its_evidence(
    audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facet = columns({"order": [("orders", "id")]})
    table = dataset("public.orders", "postgres://shop")
    file = declare(
        tmp_path,
        job_event("late", outputs=[dataset("late", columnLineage=facet)]),
        job_event("load", inputs=[table], outputs=[dataset("orders")]),
    )
    arguments = ["lineage", "--state", str(audited), "--declared", file]
    assert main(arguments) == 0
    blocks = capsys.readouterr().out.split("\n\n")
    assert [line.split()[:5] for line in blocks[0].splitlines()] == [
        ["late", "was", "made", "from"],
        ["order", "<-", "orders.id", "values", "copy"],
        ["total", "<-", "orders.total", "values", "copy"],
        ["order", "<-", "orders.id", "declared"],
    ]
    assert blocks[1].splitlines() == [
        "orders was made from", "  (whole topic)  <- postgres://shop/public.orders  declared"
    ]  # fmt: skip
    assert main([*arguments, "orders", "--format", "json"]) == 0
    (edge,) = json.loads(capsys.readouterr().out)["lineage"]
    assert edge["from"] == {"topic": "postgres://shop/public.orders", "field": ""}
    assert (edge["evidence"], edge["method"], edge["support"]) == ("declared", "declared", 0)
    assert main([*arguments, "late", "--format", "openlineage", "--bootstrap-servers", "broker:9092"]) == 0
    found, declared = map(json.loads, capsys.readouterr().out.splitlines())
    assert (found["dataset"]["name"], declared["job"]["name"]) == ("late", "late")
    assert main([*arguments, "--format", "tree", "orders"]) == 0
    assert "postgres://shop/public.orders" in capsys.readouterr().out


def test_a_later_event_of_a_file_replaces_what_the_same_job_declared(
    audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [job_event(inputs=[dataset(name)], outputs=[dataset("orders")]) for name in ("a", "b")]
    command = ["lineage", "orders", "--state", str(audited), "--format", "json"]
    assert main([*command, "--declared", declare(tmp_path, *events, "")]) == 0
    assert [edge["from"]["topic"] for edge in json.loads(capsys.readouterr().out)["lineage"]] == ["b"]


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("{", "line 2 is not JSON; the file has one OpenLineage event on each line"),
        ("[" * 100_000, "line 2 is not JSON"),
        ("[]", "line 2: the OpenLineage event is not valid: it is not an object"),
        ({"producer": "p"}, "line 2: the OpenLineage event is not valid: `schemaURL` is missing"),
    ],
)
def test_a_line_that_is_no_event_is_named(
    event: object, message: str, audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = declare(tmp_path, job_event(), event)
    assert main(["lineage", "--state", str(audited), "--declared", file]) == 2
    assert message in capsys.readouterr().err


def test_declared_files_that_cannot_be_read_are_usage_errors(
    audited: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latin").write_bytes(b"\xff")
    for name, message in (("nothing", "cannot be read: No such file"), (".", "cannot be read"), ("latin", "not UTF-8")):
        assert main(["lineage", "--state", str(audited), "--declared", str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err


def test_events_are_sent_in_requests_of_limited_size() -> None:
    events = [{"number": number, "text": "x" * 400_000} for number in range(3)] + [{"number": n} for n in range(1_200)]
    batches = list(_split_batches(events))
    assert [event for batch in batches for event in batch] == events
    assert [len(batch) for batch in batches] == [2, 500, 500, 201]
