"""``contractlog check --lineage``: what is made from the field of an incompatible finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.contracts.lineage.edges import LineageEdge

from support.lineage_estates import make_edge

OLD = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"amount","type":"int"}]}'
NEW = OLD.replace('"int"', '"string"')


def check(
    folder: Path, capsys: pytest.CaptureFixture[str], edges: list[LineageEdge], *more: str, new: str = NEW
) -> tuple[int, str]:
    for name, text in (("old", OLD), ("new", new)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "orders-value.avsc").write_text(text)
    lineage = folder / "lineage.json"
    lineage.write_text(json.dumps({"topics": [], "lineage": edges}))
    code = main(["check", str(folder / "new"), "--against", str(folder / "old"), "--lineage", str(lineage), *more])
    return code, capsys.readouterr().out


def test_a_finding_names_what_is_made_from_its_field_and_the_command_for_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = [make_edge("orders", f"t{number}", "amount", to="total") for number in range(9)]
    code, out = check(tmp_path, capsys, [*targets, make_edge("orders", "other", "id")])
    assert code == exit_codes.FINDINGS
    (line,) = [line for line in out.splitlines() if "reaches" in line]
    command = f"contractlog impact --lineage={tmp_path / 'lineage.json'} orders-value:amount"
    named = "`total` of `t0`, `total` of `t1`, `total` of `t2` and 6 more"
    assert line == f"        reaches {named}: `{command}`"


def test_a_finding_whose_field_reaches_nothing_has_no_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = check(tmp_path, capsys, [make_edge("orders", "other", "id")])
    assert code == exit_codes.FINDINGS
    assert "reaches" not in out


def test_json_has_all_reached_fields_of_incompatible_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = [make_edge("orders", f"t{number}", "amount", to="total") for number in range(9)]
    _, out = check(tmp_path, capsys, edges, "--format", "json")
    (finding,) = json.loads(out)["files"][0]["findings"]
    assert [each["topic"] for each in finding["reached"]] == [f"t{number}" for number in range(9)]


@pytest.mark.parametrize("form", ["markdown", "sarif", "junit", "github", "gitlab"])
def test_reports_of_ci_have_it(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = check(tmp_path, capsys, [make_edge("orders", "invoices", "amount", to="total")], "--format", form)
    assert "invoices" in out


def test_a_removed_field_is_named_as_the_earlier_version_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
    edges = [make_edge("orders", "invoices", "amount", to="total"), make_edge("orders", "other", "id")]
    _, out = check(tmp_path, capsys, edges, "--level", "FORWARD", new=new)
    assert "reaches `total` of `invoices`: " in out


def test_a_new_field_without_default_reaches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = OLD.replace("]}", ',{"name":"x","type":"int"}]}')
    code, out = check(tmp_path, capsys, [make_edge("orders", "invoices", "amount")], new=new)
    assert code == exit_codes.FINDINGS
    assert "reaches" not in out


def test_a_lineage_file_that_cannot_be_read_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "orders-value.avsc").write_text(OLD)
    code = main(["check", str(tmp_path), "--against", str(tmp_path), "--lineage", str(tmp_path / "absent")])
    assert code == exit_codes.USAGE
    assert "cannot be read" in capsys.readouterr().err
