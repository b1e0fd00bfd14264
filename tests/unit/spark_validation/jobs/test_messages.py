"""Messages of an audit on a terminal, and the folder that it writes."""

from __future__ import annotations

import signal
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

import pytest

from contractlog.clients.cli.main import main
from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.audit_command import _parse_share
from contractlog.spark_validation.jobs.audit_rounds import parse_evidence
from contractlog.spark_validation.jobs.result_folder import replace_folder
from contractlog.spark_validation.jobs.source_options import add_read_options, add_source_options, make_source
from contractlog.spark_validation.jobs.terminal_report import format_last_line, format_report
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.sources.source import ArchiveSource, KafkaSource

from support.reports import flights, part, report, violation


def test_a_line_for_each_part_what_needs_attention_first() -> None:
    said = list(format_report(flights()))
    assert len(said) == 6
    assert [line.split()[1] for line in said] == ["failing", "degraded", "unknown", "passing", "passing", "passing"]
    assert said[0].split()[2] == "flights.delayed"
    assert "BAD_ENUM_INDEX 400" in said[0]
    assert "188 of 336,776 (0.056 %) records violate: TRUNCATED 168, NOT_FRAMED 20; 12 absent" in said[1]
    assert "The topic contains no records." in said[2]


def test_the_only_producer_of_all_violations_is_named() -> None:
    line = violation("TRUNCATED", 900)
    line["producers"] = [{"producer": "boarding\x1b-2", "kind": "named", "records": 900}]
    (text,) = format_report(report(part("t", violations=[line])))
    assert "records violate: TRUNCATED 900; all from producer boarding\\x1b-2; 12 absent" in text
    line["producers"].append({"producer": None, "kind": "none", "records": 5})
    (text,) = format_report(report(part("t", violations=[line])))
    assert "all from producer" not in text


def test_the_given_producer_headers_replace_the_default_ones_and_values_are_masked_by_default() -> None:
    assert parse_evidence(Namespace(producer_header=[], show_values=False, no_profiles=False)) == EvidenceOptions()
    given = Namespace(producer_header=["b", "a", "b"], show_values=True, no_profiles=False)
    assert parse_evidence(given) == EvidenceOptions(("b", "a"), show_values=True)
    assert not EvidenceOptions().show_values
    without = Namespace(producer_header=[], show_values=False, no_profiles=True)
    assert parse_evidence(without) == EvidenceOptions(profiles=False)


def test_names_that_would_steer_a_terminal_are_escaped() -> None:
    (line,) = format_report(report(part("a\x1b[2Jb", records=3)))
    assert "\x1b" not in line


def test_the_last_line_names_both_thresholds_and_which_was_missed() -> None:
    assert format_last_line(flights(), 1) == (
        "verdict threshold 99.9 % (--threshold): missed by 1 part (flights.delayed); "
        "--fail-under 100 %: missed by 2 parts (flights.departed, flights.delayed); exit code 1"
    )
    kept = report(part("a"), part("b", records=0)) | {"thresholds": {"verdict": 0.95, "fail_under": 0.99}}
    assert format_last_line(kept, 0) == (  # type: ignore[arg-type]
        "verdict threshold 95 % (--threshold): met by all; --fail-under 99 %: met by all; exit code 0"
    )


def test_a_part_that_fails_by_its_newest_version_says_so() -> None:
    one = part("t", violations=[violation("TRUNCATED", 5)]) | {"verdict": "failing", "missed": ["newest version"]}
    (line,) = format_report(report(one))  # type: ignore[arg-type]
    assert "the newest version is below 99.9 %" in line


def test_a_strategy_that_is_not_the_default_is_named() -> None:
    assert not any("Strategy" in line for line in format_report(flights()))
    found = {"name": "RecordNameStrategy", "chosen_by": "evidence", "reason": ""}
    (line,) = format_report(report(part("t", records=9) | {"strategy": found}))  # type: ignore[arg-type]
    assert line.endswith("all 9 records conform; 12 absent; RecordNameStrategy (found in the records)")


def test_lineage_cannot_be_found_in_samples_that_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--lineage", "--no-samples", "--archive", "none"]) == 2
    assert "Remove one of the options" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "share"), [("0.999", 0.999), ("99.9%", 0.999), ("0", 0.0), ("1", 1.0), ("100%", 1.0)])
def test_a_share_is_read_plain_or_in_percent(text: str, share: float) -> None:
    assert _parse_share(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["99.9", "-1", "x", "1%%", "nan", "inf", "101%"])
def test_invalid_shares_are_rejected(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a share"):
        _parse_share(text)


FIRST = '{"format": "contractlog.audit/1"}'


def test_a_new_folder_takes_the_place_of_an_earlier_report(tmp_path: Path) -> None:
    out = tmp_path / "audit"
    first, second = ('{"format": "contractlog.audit/1", "at": 1}', '{"format": "contractlog.audit/1", "at": 2}')
    for content in (first, second):
        with replace_folder(out) as folder:
            (folder / "report.json").write_text(content)
            assert not out.exists() or (out / "report.json").read_text() == first
        assert (out / "report.json").read_text() == content
    assert list(tmp_path.iterdir()) == [out]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "audit"
    with replace_folder(out) as folder:
        (folder / "report.json").write_text(FIRST)

    def interrupted() -> None:
        with replace_folder(out) as folder:
            (folder / "report.json").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert (out / "report.json").read_text() == FIRST
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("stopped_at", [1, 2])
def test_an_interrupted_replacement_restores_the_previous_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_at: int
) -> None:
    out = tmp_path / "audit"
    with replace_folder(out) as folder:
        (folder / "report.json").write_text(FIRST)
    rename, renamed = Path.rename, 0

    def stopped(path: Path, target: Path) -> Path:
        nonlocal renamed
        renamed += 1
        if renamed == stopped_at:
            signal.raise_signal(signal.SIGTERM)
        return rename(path, target)

    def audited() -> None:
        with replace_folder(out) as folder:
            (folder / "report.json").write_text("second")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", stopped)
        with pytest.raises(KeyboardInterrupt):
            audited()
    assert (out / "report.json").read_text() == FIRST
    assert list(tmp_path.iterdir()) == [out]


def test_a_folder_that_is_no_report_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("keep me")
    with pytest.raises(UsageError, match="something else than the results of an audit"), replace_folder(tmp_path):
        pass
    with (
        pytest.raises(UsageError, match="something else than the results of an audit"),
        replace_folder(tmp_path / "notes.txt"),
    ):
        pass
    assert (tmp_path / "notes.txt").read_text() == "keep me"


def test_a_broker_or_an_archive_must_be_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CONTRACTLOG_BOOTSTRAP_SERVERS", raising=False)
    assert main(["audit"]) == 2
    assert "--bootstrap-servers HOST:PORT, or set CONTRACTLOG_BOOTSTRAP_SERVERS, or pass --archive DIR" in (
        capsys.readouterr().err
    )
    assert main(["consume", "t"]) == 2
    assert capsys.readouterr().err.endswith("--bootstrap-servers HOST:PORT, or set CONTRACTLOG_BOOTSTRAP_SERVERS\n")
    monkeypatch.setenv("CONTRACTLOG_BOOTSTRAP_SERVERS", "broker:9092")
    parser = ArgumentParser()
    add_source_options(parser)
    add_read_options(parser)
    assert make_source(parser.parse_args([])) == KafkaSource("broker:9092")
    assert make_source(parser.parse_args(["--bootstrap-servers", "other:1"])) == KafkaSource("other:1")
    assert make_source(parser.parse_args(["--archive", "dir"])) == ArchiveSource(Path("dir"))
    with pytest.raises(UsageError, match="use one of them"):
        make_source(parser.parse_args(["--archive", "dir", "--broker-config", "file"]))
    timed = parser.parse_args(["--archive", "dir", "--timestamp-unit", "ms"])
    assert make_source(timed) == ArchiveSource(Path("dir"), "ms")
