"""Files that a command does not cover are warnings, printed and reported by every verb."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.registry.testing import Registries

from support.ci_reports import read_reports, report_options
from support.operations import Run, runner

EXPECTED = [
    ("AVRO_IDL_LEFT_OUT", "warning", "old.avdl"),
    ("FILES_LEFT_OUT", "warning", "."),
    ("SUBJECTS_DIFFER_IN_CASE", "warning", "orders-value.avsc"),
]


@pytest.fixture
def app(registries: Registries) -> Iterator[ASGIApp]:
    app = registries.make({})
    yield app
    app.state.close()


@pytest.fixture
def run(app: ASGIApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("Orders-value.avsc", "orders-value.avsc", "old.avdl", "README.md", "NOTES.md"):
        Path(name).write_text('"string"')
    return runner(app, monkeypatch, capsys)


@pytest.mark.parametrize("verb", ["check", "plan", "register", "apply"])
def test_files_that_are_not_covered_are_reported_and_printed_though_quiet(
    run: Run, tmp_path_factory: pytest.TempPathFactory, verb: str
) -> None:
    reports = tmp_path_factory.mktemp("reports")
    ran = run(verb, ".", "--quiet", *report_options(reports))
    assert ran.code == exit_codes.CLEAN
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["warning"] * 3
    assert (
        "2 files are not schema files (`.avsc`, `.schema.json`, `.json` with `$schema`) and were left out: " in ran.err
    )
    assert ": NOTES.md, README.md; list them in `.contractlogignore`\n" in ran.err
    assert sorted(read_reports(reports).findings) == EXPECTED
    assert read_reports(reports).failed == []


@pytest.mark.parametrize(("verb", "expected"), [("check", EXPECTED), ("lint", EXPECTED[:2])])
def test_they_fail_a_check_and_a_lint_as_other_warnings_do(
    run: Run, tmp_path_factory: pytest.TempPathFactory, verb: str, expected: list[tuple[str, str, str]]
) -> None:
    reports = tmp_path_factory.mktemp("reports")
    assert run(verb, ".", "--quiet").code == exit_codes.CLEAN
    ran = run(verb, ".", "--fail-on", "warning", "--format", "json", *report_options(reports))
    assert ran.code == exit_codes.FINDINGS
    assert sorted(read_reports(reports).findings) == expected
    assert sorted(read_reports(reports).failed) == sorted(path for _, _, path in expected)
    assert [(each["rule"], each["file"]) for each in ran.body["folder_warnings"]] == [
        (rule, path) for rule, _, path in expected
    ]
    Path(".contractlogignore").write_text("*.md\n*.avdl\nOrders-value.avsc\n")
    assert run(verb, ".", "--fail-on", "warning").code == exit_codes.CLEAN


def test_an_unused_entry_of_the_manifest_is_printed_though_quiet_and_fails_if_requested(run: Run) -> None:
    Path(".contractlogignore").write_text("*.md\n*.avdl\nOrders-value.avsc\n")
    Path("contractlog.toml").write_text('[[subjects]]\nname = "x-*"\nowner = "ana"\n')
    ran = run("check", ".", "--quiet")
    assert ran.code == exit_codes.CLEAN
    assert ran.err.startswith("warning: contractlog.toml:1: `x-*` in [[subjects]] applies to no file's subject")
    assert run("check", ".", "--fail-on", "warning").code == exit_codes.FINDINGS
