"""``contractlog infer`` writes rules that an audit, and the hold-out, satisfy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli.main import main
from contractlog.contracts.audit.field_entries import describe_field
from contractlog.contracts.audit.field_profiles import FieldProfile, ValueRange
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.jobs.quality_files import read_quality_file
from contractlog.spark_validation.state.state_files import write_state

from support.reports import part, report


def _write_audit(
    folder: Path, highest: float = 30.0, records: int = 2_000, topics: tuple[str, ...] = ("orders",)
) -> Path:
    """Write an audit of topics with one field, a number up to the highest."""
    profile = FieldProfile(records, kinds={"number": records}, ranges={"number": ValueRange(0.0, highest)}, listed=None)
    parts = []
    for topic in topics:
        entry = part(topic, records=records)
        entry["series"] = []
        entry["fields"] = [describe_field("total", profile, records)]
        parts.append(entry)
    audit = report(*parts)
    audit["scope"].update({"lineage": False, "samples": True, "profiles": True})
    folder.mkdir()
    (folder / "report.json").write_text(json.dumps(audit))
    write_state(AuditState(profiles={(topic, "value", "total"): profile for topic in topics}), folder / "state")
    return folder


def _infer(audit: Path, out: Path, *more: str) -> int:
    return main(["infer", "--audit", str(audit), "--out", str(out), *more])


def _rules(file: Path) -> list[str]:
    return [rule.name for rule in read_quality_file(file).rules]


def test_the_files_hold_what_the_audit_satisfies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit, out = _write_audit(tmp_path / "audit"), tmp_path / "quality"
    assert _infer(audit, out) == 0
    assert capsys.readouterr().out == f"{out}/orders.quality.yaml: 4 rules\n"
    assert _rules(out / "orders.quality.yaml") == [
        "records conform",
        "total is required",
        "minimum of total",
        "maximum of total",
    ]
    assert "maximum: 300  # 2,000 values\n" in (out / "orders.quality.yaml").read_text()


def test_rules_that_the_holdout_does_not_satisfy_are_left_out_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit, out = _write_audit(tmp_path / "audit"), tmp_path / "quality"
    holdout = _write_audit(tmp_path / "holdout", highest=500.0)
    assert _infer(audit, out, "--holdout", str(holdout), "--format", "json") == 0
    (result,) = json.loads(capsys.readouterr().out)["topics"]
    assert (result["topic"], result["rules"]) == ("orders", 3)
    assert result["left_out"] == ["maximum of total: maximum of `total` must be at most 300, and is 500"]
    text = (out / "orders.quality.yaml").read_text()
    assert "# Left out, as the hold-out does not satisfy it: maximum of total" in text
    assert "minimum: 0  # 2,000 values; hold-out: passed\n" in text
    assert "maximum of total" not in _rules(out / "orders.quality.yaml")


def test_a_topic_that_the_holdout_lacks_is_not_judged(tmp_path: Path) -> None:
    audit, out = _write_audit(tmp_path / "audit"), tmp_path / "quality"
    holdout = _write_audit(tmp_path / "holdout", topics=("payments",))
    assert _infer(audit, out, "--holdout", str(holdout)) == 0
    assert "maximum: 300  # 2,000 values; hold-out: no records\n" in (out / "orders.quality.yaml").read_text()


def test_files_that_exist_are_kept_unless_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit, out = _write_audit(tmp_path / "audit", topics=("orders", "payments")), tmp_path / "quality"
    out.mkdir()
    (out / "payments.quality.yaml").write_text("mine")
    assert _infer(audit, out) == 2
    assert "exists: pass --force" in capsys.readouterr().err
    assert [file.name for file in out.iterdir()] == ["payments.quality.yaml"]
    assert _infer(audit, out, "--force") == 0
    assert len(_rules(out / "payments.quality.yaml")) == 4


def test_topics_are_chosen_by_name_and_glob_and_others_have_too_few_records(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    audit, out = _write_audit(tmp_path / "audit", records=900, topics=("a1", "a2", "b")), tmp_path / "quality"
    assert _infer(audit, out, "a*", "--min-records", "900") == 0
    assert sorted(file.name for file in out.iterdir()) == ["a1.quality.yaml", "a2.quality.yaml"]
    capsys.readouterr()
    assert _infer(audit, out, "b") == 0
    assert capsys.readouterr().out == "b: no rules, fewer than 1,000 records\n"
    assert _infer(audit, out, "c") == 2
    assert "has no topic `c`" in capsys.readouterr().err


def test_topics_that_are_no_file_names_are_passed_over(tmp_path: Path) -> None:
    audit, out = _write_audit(tmp_path / "audit", topics=("..", "../evil", "a/b")), tmp_path / "quality"
    assert _infer(audit, out) == 0
    assert list(out.iterdir()) == []


def test_folders_without_a_usable_audit_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _infer(tmp_path, tmp_path / "quality") == 2
    assert "has no report.json of an audit" in capsys.readouterr().err
    audit = _write_audit(tmp_path / "audit")
    stored = json.loads((audit / "report.json").read_text())
    stored["scope"]["profiles"] = False
    (audit / "report.json").write_text(json.dumps(stored))
    assert _infer(audit, tmp_path / "quality") == 2
    assert "repeat it without --no-profiles" in capsys.readouterr().err
    assert not (tmp_path / "quality").exists()
