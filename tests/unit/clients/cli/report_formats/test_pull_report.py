"""Reports of ``contractlog pull`` in every format."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Config, Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft

from support.ci_reports import CiReports, read_reports, report_options


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, and a registry with two subjects."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("contractlog.clients.cli.pull.runner.connect", lambda _: nullcontext(registry))
    registry.register("a-value", SchemaDraft('"string"'))
    registry.register("b-value", SchemaDraft('"long"'))
    return tmp_path


def pull(code: int, *arguments: str) -> CiReports:
    assert main(["pull", "--all", "--out", "schemas", *arguments, *report_options(Path())]) == code
    return read_reports(Path())


def test_files_that_are_written_pass(folder: Path) -> None:
    reports = pull(exit_codes.CLEAN)
    assert (sorted(reports.cases), reports.failed) == (["schemas/a-value.avsc", "schemas/b-value.avsc"], [])
    assert reports.markdown == "### contractlog pull: 2 files: 2 new, 0 changed\n"


def test_an_edited_file_is_an_error_of_it_until_it_is_overwritten(folder: Path) -> None:
    pull(exit_codes.CLEAN)
    (folder / "schemas" / "a-value.avsc").write_text('"bytes"')
    reports = pull(exit_codes.FINDINGS)
    assert reports.findings == [("FILE_EDITED", "error", "schemas/a-value.avsc")]
    assert reports.failed == ["schemas/a-value.avsc"]
    assert "version 1 of `a-value` was not written: it was edited" in reports.results[0].message
    assert reports.markdown.startswith("### contractlog pull: 2 files: 0 new, 0 changed, 1 edited file kept\n")
    assert pull(exit_codes.CLEAN, "--force").findings == []


def test_a_subject_that_is_left_out_is_an_error_of_the_lock(folder: Path, registry: Registry) -> None:
    registry.set_config(Config(alias="nowhere"), "b-value")
    reports = pull(exit_codes.FINDINGS)
    assert reports.findings == [("SUBJECT_LEFT_OUT", "error", "schemas/contractlog.lock")]
    assert reports.failed == ["schemas/contractlog.lock"]
    assert reports.markdown.startswith("### contractlog pull: 1 file: 1 new, 0 changed, 1 subject left out\n")


def test_an_error_that_ends_a_pull_is_in_the_reports(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "schemas").mkdir()
    (folder / "schemas" / "contractlog.toml").write_text("[environment]")
    reports = pull(exit_codes.USAGE)
    assert reports.findings == [("MANIFEST_INVALID", "error", "schemas/contractlog.toml")]
    assert reports.markdown.startswith("### contractlog pull: ")
    capsys.readouterr()
    assert main(["pull", "--all", "--out", "schemas", "--format", "json"]) == exit_codes.USAGE
    assert json.loads(capsys.readouterr().out)["format"] == "contractlog.failure/1"
