"""Every report format and the JSON document of an ``apply`` that succeeds, and of one that fails midway."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.options import REPORT_FORMATS
from contractlog.clients.retry_and_failover import Retries
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.testing import Registries

from support.ci_reports import CiReports, read_reports, report_options
from support.golden import require_golden
from support.operations import Run, runner

GOLDEN: Final = Path(__file__).parent / "golden"
MONEY: Final = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER: Final = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}
REFUND: Final = {"type": "record", "name": "Refund", "fields": [{"name": "total", "type": "Money"}]}
MANIFEST: Final = """
[environments.dev]
registry = "http://registry.example"

[environments.prod]
registry = "http://registry.example"
context = ".prod"

[[subjects]]
name = "*-value"
level = "FULL"
"""


class FailingApp:
    """A registry that answers 500 to one request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.failing = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or f"{scope['method']} {scope['path']}" != self.failing:
            await self.app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/vnd.schemaregistry.v1+json")]
        await send({"type": "http.response.start", "status": 500, "headers": headers})
        body = json.dumps({"error_code": 50001, "message": "the disk is full"}).encode()
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
def app(registries: Registries) -> Iterator[FailingApp]:
    app = registries.make({})
    Registry(app=app).register("gone-value", SchemaDraft('"int"'))
    yield FailingApp(app)
    app.state.close()


@pytest.fixture
def run(app: FailingApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "1.2.3")
    for name, schema in (("Money", MONEY), ("orders-value", ORDER), ("refunds-value", REFUND)):
        Path(f"{name}.avsc").write_text(json.dumps(schema))
    Path("contractlog.toml").write_text(MANIFEST)
    return runner(app, monkeypatch, capsys, retries=Retries(attempts=1))


def compare(name: str, out: str) -> CiReports:
    """Compare the reports in the working directory and the JSON document with the golden files of a run."""
    texts = {f"{each}.txt": Path(f".{each}.report").read_text("utf-8") for each in REPORT_FORMATS} | {"json.txt": out}
    require_golden(GOLDEN / name, texts)
    return read_reports(Path())


APPLY: Final = ("apply", "--prune", "--allow-delete", "--environment", "dev", "--format", "json")


def test_a_successful_apply_has_all_changes_in_every_format(run: Run) -> None:
    ran = run(*APPLY, *report_options(Path()))
    assert ran.code == exit_codes.CLEAN
    reports = compare("successful", ran.out)
    assert (reports.failed, reports.findings, reports.completed) == ([], [], True)


def test_an_apply_that_fails_midway_has_what_was_done_what_failed_and_what_was_not_reached(
    run: Run, app: FailingApp
) -> None:
    app.failing = "POST /subjects/orders-value/versions"
    ran = run(*APPLY, *report_options(Path()))
    assert ran.code == exit_codes.UNREACHABLE
    assert "the disk is full" in ran.err
    reports = compare("failed_midway", ran.out)
    assert reports.findings == [("STEP_FAILED", "error", "orders-value.avsc")]
    assert reports.failed == ["orders-value.avsc", "refunds-value.avsc"]
    assert list(reports.cases) == ["Money.avsc", "orders-value.avsc", "refunds-value.avsc", "contractlog.toml"]
    assert not reports.completed
    assert "Registered as version 1 of `Money`" in reports.markdown
    assert [each["file"] for each in ran.body["files"]] == ["Money.avsc"]
    assert ran.body["error"]["step"]["file"] == "orders-value.avsc"
    assert [each["action"] for each in ran.body["not_reached"]] == ["register", "delete"]


def test_a_setting_that_fails_is_an_error_of_the_manifest(run: Run, app: FailingApp) -> None:
    app.failing = "PUT /config/refunds-value"
    ran = run(*APPLY, *report_options(Path()))
    assert ran.code == exit_codes.UNREACHABLE
    reports = read_reports(Path())
    assert reports.findings == [("STEP_FAILED", "error", "contractlog.toml")]
    assert reports.failed == ["Money.avsc", "orders-value.avsc", "refunds-value.avsc", "contractlog.toml"]
    assert "| orders-value | level | BACKWARD | FULL |" in reports.markdown.replace("`", "")
    assert ran.body["error"]["step"]["action"] == "set level"


def test_a_register_that_fails_midway_has_all_files(run: Run, app: FailingApp) -> None:
    app.failing = "POST /subjects/orders-value/versions"
    ran = run("register", "--environment", "dev", "--format", "json", *report_options(Path()))
    assert ran.code == exit_codes.UNREACHABLE
    reports = read_reports(Path())
    assert reports.findings == [("STEP_FAILED", "error", "orders-value.avsc")]
    assert reports.failed == ["orders-value.avsc", "refunds-value.avsc"]
    assert "ended early: 1 version registered; 1 step failed, 1 not reached" in reports.markdown
    assert ran.body["error"]["file"] == "orders-value.avsc"
    assert [each["file"] for each in ran.body["not_reached"]] == ["refunds-value.avsc"]


def test_a_promotion_that_fails_midway_has_all_subjects(run: Run, app: FailingApp) -> None:
    assert run("apply", "--environment", "dev").code == exit_codes.CLEAN
    app.failing = "POST /subjects/:.prod:orders-value/versions"
    ran = run("promote", "dev", "prod", "--apply", "--format", "json", *report_options(Path()))
    assert ran.code == exit_codes.UNREACHABLE
    reports = read_reports(Path())
    assert reports.findings == [("STEP_FAILED", "error", "orders-value.avsc")]
    assert reports.failed == ["orders-value.avsc", "refunds-value.avsc"]
    assert "ended early: 1 version registered; 1 step failed, 1 not reached" in reports.markdown
    assert ran.body["error"]["version"]["subject"] == "orders-value"
    assert [each["subject"] for each in ran.body["not_reached"]] == ["refunds-value"]
