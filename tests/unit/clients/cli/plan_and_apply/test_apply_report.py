"""Reports of ``contractlog apply`` in every format."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import Reference, SchemaDraft
from contractlog.registry.testing import Registries

from support.ci_reports import CiReports, read_reports, report_options
from support.limited_servers import ignore_member
from support.operations import runner

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
MANIFEST = '[[subjects]]\nname = "*-value"\nlevel = "FULL"\n'


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    put("Money", MONEY)
    put("orders-value", ORDER)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    return tmp_path


def put(name: str, schema: Any) -> None:
    Path(f"{name}.avsc").write_text(json.dumps(schema))


def apply(*arguments: str, code: int) -> CiReports:
    assert main(["apply", *arguments, *report_options(Path())]) == code
    return read_reports(Path())


def test_what_was_changed_is_reported_and_passes(registry: Registry, folder: Path) -> None:
    registry.register("gone-value", SchemaDraft('"int"'))
    reports = apply("--prune", "--allow-delete", code=exit_codes.CLEAN)
    assert list(reports.cases) == ["Money.avsc", "orders-value.avsc", "contractlog.toml"]
    assert (reports.findings, reports.failed) == ([], [])
    first = "### contractlog apply: 2 versions registered, 1 level set, 1 subject soft-deleted\n"
    assert reports.markdown.startswith(first)
    assert "Registered as version 1 of `orders-value`, id 3." in reports.markdown
    assert "| orders-value | level | BACKWARD | FULL |" in reports.markdown.replace("`", "")
    assert "| gone-value | 1 |" in reports.markdown.replace("`", "")


def test_nothing_to_change_is_reported_with_drift(registry: Registry, folder: Path) -> None:
    apply(code=exit_codes.CLEAN)
    registry.register("gone-value", SchemaDraft('"int"'))
    reports = apply(code=exit_codes.CLEAN)
    assert reports.findings == [("PLAN_DRIFT", "warning", "contractlog.toml")]
    assert reports.failed == []


def test_a_refused_plan_is_reported_as_apply(registry: Registry, folder: Path) -> None:
    registry.register("Money", SchemaDraft(json.dumps({**MONEY, "fields": []})))
    reports = apply(code=exit_codes.FINDINGS)
    assert reports.findings == [("AVRO_FIELD_DEFAULT_MISSING", "error", "Money.avsc")]
    assert reports.failed == ["Money.avsc", "orders-value.avsc"]
    assert reports.markdown.startswith("### contractlog apply: 1 file cannot be registered")


def test_a_subject_that_cannot_be_deleted_is_an_error_of_the_manifest(registry: Registry, folder: Path) -> None:
    registry.register("gone-value", SchemaDraft(json.dumps(MONEY)))
    registry.register("user", SchemaDraft(json.dumps(ORDER), references=(Reference("Money", "gone-value", 1),)))
    reports = apply("--prune", "--allow-delete", code=exit_codes.FINDINGS)
    assert reports.findings == [("SUBJECT_REFERENCED", "error", "contractlog.toml")]
    assert reports.failed == ["contractlog.toml"]
    assert registry.versions("gone-value") == [1]


def test_an_outdated_plan_is_an_error_of_its_file(registry: Registry, folder: Path) -> None:
    assert main(["plan", "--out", "plan.json"]) == exit_codes.CLEAN
    put("orders-value", {**ORDER, "doc": "changed"})
    reports = apply("--plan", "plan.json", code=exit_codes.FINDINGS)
    assert reports.findings == [("PLAN_OUTDATED", "error", "plan.json")]
    assert reports.failed == ["plan.json"]


def test_a_file_that_cannot_be_read_is_reported(registry: Registry, folder: Path) -> None:
    Path("orders-value.avsc").write_text('{"type":')
    reports = apply(code=exit_codes.USAGE)
    assert reports.findings == [("UNREADABLE_FILE", "error", "orders-value.avsc")]
    assert registry.subjects() == []


def test_a_setting_that_the_registry_ignores_is_an_error(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = registries.make({})
    run = runner(ignore_member(app, "normalize"), monkeypatch, capsys)
    monkeypatch.chdir(tmp_path)
    put("orders-value", MONEY)
    Path("contractlog.toml").write_text('[[subjects]]\nname = "*"\nnormalize = true\n')
    assert run("apply", *report_options(Path())).code == exit_codes.FINDINGS
    reports = read_reports(Path())
    assert reports.findings == [("SETTING_IGNORED", "error", "contractlog.toml")]
    assert reports.failed == ["contractlog.toml"]
    app.state.close()


def test_a_registry_that_cannot_be_reached_is_in_the_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    put("Money", MONEY)
    reports = apply("Money.avsc", "--registry", "http://127.0.0.1:1", code=exit_codes.UNREACHABLE)
    assert (reports.findings, reports.completed) == ([("REGISTRY_FAILED", "error", "Money.avsc")], False)
