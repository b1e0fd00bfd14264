"""Reports of ``contractlog promote`` in every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli import options as cli_options
from contractlog.clients.cli.main import main
from contractlog.compatibility.mode import Mode

from support.ci_reports import CiReports, read_reports, report_options
from support.environments import MANIFEST, MONEY, NOTE, Environments, draft, more


def promote(*arguments: str, code: int) -> CiReports:
    assert main(["promote", "dev", "prod", *arguments, *report_options(Path())]) == code
    return read_reports(Path())


def test_missing_versions_are_a_table_of_their_file(environments: Environments) -> None:
    reports = promote("--exit-code", code=exit_codes.FINDINGS)
    assert (sorted(reports.cases), reports.failed) == (["Money.avsc", "orders-value.avsc"], [])
    assert reports.markdown.startswith("### contractlog promote: 5 versions would be registered\n")
    assert "3 versions of `orders-value` would be registered in prod." in reports.markdown
    assert "| 3 | 3 | 5 | 5 |" in reports.markdown.replace("`", "")
    reports = promote("--apply", code=exit_codes.CLEAN)
    assert reports.markdown.startswith("### contractlog promote: 5 versions registered\n")
    assert "2 versions of `Money` registered in prod." in reports.markdown
    assert promote(code=exit_codes.CLEAN).markdown == "### contractlog promote: nothing to promote\n"


def test_a_refused_subject_is_an_error_of_its_file(environments: Environments) -> None:
    environments.prod.register("Money", draft(more(MONEY, {**NOTE, "name": "other"})))
    reports = promote("--apply", code=exit_codes.FINDINGS)
    assert reports.findings == [
        ("PROMOTION_REFUSED", "error", "Money.avsc"),
        ("PROMOTION_REFUSED", "error", "orders-value.avsc"),
    ]
    assert reports.failed == ["Money.avsc", "orders-value.avsc"]
    assert "the histories differ from there on" in reports.results[0].message
    assert reports.markdown.startswith("### contractlog promote: 2 subjects cannot be promoted: nothing was registered")


def test_a_subject_that_waits_for_another_passes(environments: Environments) -> None:
    environments.prod.set_mode(Mode.READONLY, "orders-value")
    reports = promote("--apply", code=exit_codes.REFUSED)
    assert reports.failed == ["orders-value.avsc"]
    assert "2 versions of `Money` not registered, because another cannot be." in reports.markdown


def test_notes_are_of_their_subject_or_of_the_manifest(environments: Environments, tmp_path: Path) -> None:
    (tmp_path / "contractlog.toml").write_text(f'{MANIFEST}[[subjects]]\nname = "Money"\nlevel = "FULL"\n')
    (tmp_path / "new-value.avsc").write_text('"int"')
    reports = promote(code=exit_codes.CLEAN)
    assert "`new-value` has no version in dev" in reports.cases["new-value.avsc"].output
    assert "1 setting of prod differs from the manifest" in reports.cases["contractlog.toml"].output
    assert len(reports.notes) == 2


def test_a_registry_that_cannot_be_reached_is_in_the_reports(
    environments: Environments, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_options, "Registry", Registry)
    urls = MANIFEST.replace("http://prod", "http://127.0.0.1:1").replace("http://dev", "http://127.0.0.1:2")
    (tmp_path / "contractlog.toml").write_text(urls)
    reports = promote(code=exit_codes.UNREACHABLE)
    assert ([rule for rule, _, _ in reports.findings], reports.completed) == (["REGISTRY_FAILED"], False)
