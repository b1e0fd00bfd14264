"""The verb ``compat``: one file against one version, or those that the level selects."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.compatibility.level import Level

from support.ci_reports import read_reports, report_options
from support.operations import LINE, NOTE, Run, order

REQUIRED = '{"name":"total","type":"double"}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "order.avsc"


def test_an_incompatible_file_is_exit_code_1_with_findings(orders: Registry, run: Run, file: Path) -> None:
    file.write_text(order(REQUIRED).text)
    for arguments in ([], ["--version", "1"], ["--version", "latest"], ["--level", "BACKWARD"]):
        ran = run("compat", "orders-value", str(file), *arguments)
        assert ran.code == exit_codes.FINDINGS
        assert "AVRO_FIELD_DEFAULT_MISSING" in ran.out
        ran = run("compat", "orders-value", str(file), *arguments, "--format", "json")
        assert (ran.code, ran.body["format"], ran.body["compatible"]) == (1, "contractlog.compat/1", False)
        assert ran.body["findings"]


def test_a_compatible_file_is_exit_code_0(orders: Registry, run: Run, file: Path) -> None:
    file.write_text(order(NOTE, NOTE.replace("note", "more")).text)
    for arguments in ([], ["--version", "1"], ["--level", "FULL_TRANSITIVE"]):
        ran = run("compat", "orders-value", str(file), *arguments)
        assert ran.code == exit_codes.CLEAN, ran.out + ran.err
        assert "compatible with version" in ran.out


def test_a_level_takes_the_place_of_the_subjects(orders: Registry, run: Run, file: Path) -> None:
    file.write_text(order(NOTE, REQUIRED).text)
    orders.set_level(Level.NONE, "orders-value")
    assert run("compat", "orders-value", str(file)).code == exit_codes.CLEAN
    assert run("compat", "orders-value", str(file), "--level", "BACKWARD").code == exit_codes.FINDINGS
    assert run("compat", "orders-value", str(file), "--level", "BACKWARD", "--version", "1").code == exit_codes.FINDINGS
    assert run("compat", "orders-value", str(file), "--version", "1", "--level", "FORWARD").code == exit_codes.CLEAN


def test_the_registry_decides_about_a_version(orders: Registry, run: Run, run_plain: Run, file: Path) -> None:
    orders.set_level(Level.FORWARD_TRANSITIVE, "orders-value")
    file.write_text(order(REQUIRED).text)
    assert run("compat", "orders-value", str(file), "--version", "1").code == exit_codes.CLEAN
    assert run_plain("compat", "orders-value", str(file), "--version", "1").code == exit_codes.CLEAN
    file.write_text('"string"')
    ran = run_plain("compat", "orders-value", str(file), "--version", "1", "--format", "json")
    assert (ran.code, ran.body["compared_with"]) == (exit_codes.FINDINGS, ["version 1"])
    assert ran.body["messages"]


def test_a_file_with_references(orders: Registry, run: Run, file: Path) -> None:
    file.write_text(LINE.text)
    reference = ["--reference", "Order=orders-value:1"]
    assert run("compat", "lines-value", str(file), *reference).code == exit_codes.CLEAN
    assert run("compat", "lines-value", str(file), *reference, "--version", "1").code == exit_codes.CLEAN
    assert run("compat", "lines-value", str(file)).code == exit_codes.USAGE


@pytest.mark.parametrize(
    "arguments", [["--version", "0"], ["--version", "x"], ["--version", "9"], ["--level", "SIDEWAYS"]]
)
def test_wrong_arguments_are_usage(orders: Registry, run: Run, file: Path, arguments: list[str]) -> None:
    file.write_text(order().text)
    assert run("compat", "orders-value", str(file), *arguments).code == exit_codes.USAGE


def test_a_folder_and_a_missing_file_are_usage(orders: Registry, run: Run, tmp_path: Path) -> None:
    assert "use `contractlog check" in run("compat", "orders-value", str(tmp_path)).err
    assert run("compat", "orders-value", str(tmp_path / "none.avsc")).code == exit_codes.USAGE


def test_reports_have_the_verdict_and_its_findings(
    orders: Registry, run: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    arguments = ("compat", "orders-value", file.name, *report_options(file.parent))
    file.write_text(order(REQUIRED).text)
    for version in ([], ["--version", "1"]):
        assert run(*arguments, *version).code == exit_codes.FINDINGS
        reports = read_reports(file.parent)
        assert ("AVRO_FIELD_DEFAULT_MISSING", "error", file.name) in reports.findings
        assert (list(reports.cases), reports.failed) == ([file.name], [file.name])
        assert reports.markdown.startswith("### contractlog compat: 1 of 1 file cannot be registered")
    file.write_text(order().text)
    assert run(*arguments).code == exit_codes.CLEAN
    assert read_reports(file.parent).failed == []
    file.write_text('{"type":')
    assert run(*arguments).code == exit_codes.USAGE
    assert read_reports(file.parent).findings == [("UNREADABLE_FILE", "error", file.name)]
    file.write_text(order().text)
    assert run(*arguments, "--version", "9").code == exit_codes.USAGE
    assert read_reports(file.parent).findings == [("REGISTRY_FAILED", "error", file.name)]
