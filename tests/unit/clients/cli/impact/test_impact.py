"""``contractlog impact``: fields and topics that a change reaches, from a lineage file or a report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.impact import lineage_sources
from contractlog.clients.cli.impact.lineage_sources import read_lineage_file
from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError

from support.lineage_estates import make_edge

EDGES = [
    make_edge("orders", "invoices", "amount", to="total"),
    make_edge("invoices", "daily", "total", to="sum", method="function", evidence="declared"),
    make_edge("orders", "carriers", "legs[].carrier", to="name"),
    make_edge("orders", "orders.mirror", "note", direction="unknown"),
]
TOPICS = [{"topic": "orders", "fields": ["amount", "id", "legs[].carrier"]}, {"topic": "idle", "fields": ["x"]}]


@pytest.fixture
def lineage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    file = tmp_path / "lineage.json"
    file.write_text(json.dumps({"format": "contractlog.lineage/1", "topics": TOPICS, "lineage": EDGES}))
    return file


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["impact", *map(str, arguments)]) == exit_codes.CLEAN
    return capsys.readouterr().out


def failed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["impact", *map(str, arguments)]) == exit_codes.USAGE
    return capsys.readouterr().err


def test_text_has_each_reached_field_with_its_step(lineage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "orders-value:amount", "--lineage", lineage).splitlines() == [
        "a change of `orders-value:amount` reaches 2 fields of 2 topics",
        "depth  topic     field  made from       method    evidence  score",
        "    1  invoices  total  orders amount   copy      values    0.98",
        "    2  daily     sum    invoices total  function  declared  0.98",
    ]


def test_a_record_reaches_what_its_fields_reach(lineage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "carriers  name" in printed(capsys, "orders-value:legs", "--lineage", lineage)


def test_without_a_field_all_fields_are_meant_and_a_topic_will_do(
    lineage: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for subject in ("orders-value", "orders", ":.eu:orders-value"):
        assert f"`{subject}` reaches 4 fields of 4 topics" in printed(capsys, subject, "--lineage", lineage)


def test_what_has_no_known_direction_is_listed_and_said(lineage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["impact", "orders:note", "--lineage", str(lineage)]) == exit_codes.CLEAN
    streams = capsys.readouterr()
    assert "values, direction unknown" in streams.out
    assert "either field may have been made from the other" in streams.err


def test_a_field_that_nothing_is_made_from_reaches_nothing(lineage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for subject in ("orders:id", "idle", "daily:sum"):
        expected = f"no field is known to be made from `{subject}`\n"
        assert printed(capsys, subject, "--lineage", lineage) == expected


def test_json_has_each_step(lineage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = json.loads(printed(capsys, "orders-value:amount", "--lineage", lineage, "--format", "json"))
    reached = body.pop("reached")
    assert body == {
        "format": "contractlog.impact/1",
        "subject": "orders-value",
        "field": "amount",
        "topics": ["orders"],
        "reached_topics": ["daily", "invoices"],
        "truncated": False,
        "consumer_groups": None,
        "unknown_consumer_groups": None,
    }
    assert [(each["depth"], each["topic"], each["field"], each["evidence"]) for each in reached] == [
        (1, "invoices", "total", "values"),
        (2, "daily", "sum", "declared"),
    ]


@pytest.mark.parametrize(
    ("subject", "message"),
    [
        ("ordrs-value", "has no topic of the subject `ordrs-value`; did you mean `orders`?"),
        ("zzz", "has no topic of the subject `zzz`: it has carriers, daily, idle, invoices, orders, orders.mirror"),
        ("orders-value:amunt", "has no field `amunt` of `orders`; did you mean `amount`?"),
        ("orders:qqq", "has no field `qqq` of `orders`: it has amount, id, legs[].carrier, note"),
        ("orders-key:id", "is a subject of record keys, whose fields have no lineage yet"),
        ("orders:", "names no field"),
        ("a\x1b[2J", r"`a\x1b[2J`"),
    ],
)
def test_an_unknown_name_is_an_error_with_near_names(
    subject: str, message: str, lineage: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in failed(capsys, subject, "--lineage", lineage)


def test_a_report_names_the_topics_of_subjects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part = {
        "topic": "orders",
        "part": "value",
        "schemas": [{"subject": "com.example.Order"}],
        "fields": [{"field": "amount"}, {"field": "spare"}],
    }
    report = {"format": "contractlog.audit/1", "scope": {"lineage": True}, "topics": [part], "lineage": EDGES}
    (tmp_path / "report.json").write_text(json.dumps(report))
    source = ("--lineage", tmp_path / "report.json")
    assert "reaches 2 fields of 2 topics" in printed(capsys, "com.example.Order:amount", *source)
    assert "no field is known" in printed(capsys, "com.example.Order:spare", *source)


def test_a_report_without_lineage_says_how_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = {"format": "contractlog.audit/1", "scope": {"lineage": False}, "topics": [], "lineage": []}
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert "audit with --lineage" in failed(capsys, "orders", "--lineage", tmp_path / "report.json")


BROKEN: list[Any] = [
    [],
    {},
    {"lineage": 1},
    {"lineage": [{}]},
    {"lineage": [{**EDGES[0], "score": "high"}]},
    {"lineage": [{**EDGES[0], "from": {"topic": 1, "field": "a"}}]},
    {"lineage": [], "topics": [{"topic": "a", "fields": [1]}]},
    {"lineage": [], "topics": 1},
]


@pytest.mark.parametrize("document", BROKEN)
def test_another_document_is_a_usage_error(document: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file.json").write_text(json.dumps(document))
    assert "is neither the output of" in failed(capsys, "orders", "--lineage", tmp_path / "file.json")


def test_files_that_cannot_be_read_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("[" * 100_000)
    assert "is neither the output of" in failed(capsys, "orders", "--lineage", tmp_path / "text")
    assert "cannot be read" in failed(capsys, "orders", "--lineage", tmp_path / "absent")
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in failed(capsys, "orders", "--lineage", tmp_path / "pipe")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "1" + "0" * 400])
def test_numbers_that_are_no_floats_are_rejected(number: str, tmp_path: Path) -> None:
    edge = '{"from": {"topic": "a", "field": "x"}, "to": {"topic": "b", "field": "y"}, "method": "copy", "support": 1'
    file = tmp_path / "lineage.json"
    file.write_text(f'{{"lineage": [{edge}, "score": {number}}}]}}')
    with pytest.raises(UsageError, match="is neither the output of"):
        read_lineage_file(file)


def test_a_lineage_file_has_a_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "lineage.json"
    file.write_text('{"lineage": [{}, {}, {}]}')
    monkeypatch.setattr(lineage_sources, "_MAX_FILE_EDGES", 2)
    with pytest.raises(UsageError, match="has 3 edges; at most 2 are read"):
        read_lineage_file(file)
    monkeypatch.setattr(lineage_sources, "_MAX_BYTES", 10)
    with pytest.raises(UsageError, match="it is larger than 10 bytes"):
        read_lineage_file(file)
