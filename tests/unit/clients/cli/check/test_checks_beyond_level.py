"""Dangerous changes, checks that the manifest turns on or off, and waivers of their findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.transport import ASGIApp
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.registry.testing import Registries

from support.ci_formats import read_gitlab, read_junit, read_workflow_command
from support.operations import Run, runner
from support.sarif import read_sarif

SUBJECT = "orders-value"
BEFORE = '{"type":"record","name":"Order","doc":"An order.","fields":[{"name":"total","type":"int","default":0}]}'
DANGEROUS = BEFORE.replace('"default":0', '"default":1')
CHECK = "AVRO_DEFAULT_CHANGED"
ENTRY = """
[[checks]]
check = "{check}"
severity = "{severity}"
reason = "agreed on 3 March"
"""
WAIVER = """
[[waivers]]
subject = "orders-value"
check = "AVRO_DEFAULT_CHANGED"
path = "/fields/0"
reason = "no reader uses it"
by = "ana@example.com"
until = 2999-01-01
"""


@pytest.fixture
def app(registries: Registries) -> Iterator[ASGIApp]:
    app = registries.make({})
    yield app
    app.state.close()


@pytest.fixture
def registry(app: ASGIApp) -> Registry:
    registry = Registry(app=app)
    registry.register(SUBJECT, SchemaDraft(BEFORE))
    return registry


@pytest.fixture
def run(app: ASGIApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    return runner(app, monkeypatch, capsys)


def write(text: str = DANGEROUS, manifest: str = "", path: str = "orders-value.avsc") -> None:
    Path(path).write_text(text)
    Path("contractlog.toml").write_text(manifest)


def entry(check: str = CHECK, severity: str = "error", more: str = "") -> str:
    return ENTRY.format(check=check, severity=severity) + more


def checked(run: Run, code: int, *options: str) -> dict[str, Any]:
    ran = run("check", ".", "--format", "json", *options)
    assert ran.code == code
    body: dict[str, Any] = ran.body["files"][0]
    return body


def list_checks(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["check"], each["severity"]) for each in body["findings"]]


def test_a_dangerous_change_is_a_warning_with_id_position_and_fix(registry: Registry, run: Run) -> None:
    write()
    ran = run("check", ".")
    assert ran.code == exit_codes.CLEAN
    lines = ran.out.splitlines()
    assert lines[0] == "! orders-value.avsc: compatible with version 1 of `orders-value` at level BACKWARD"
    assert lines[1] == f"    orders-value.avsc:1:61  at /fields/0  {CHECK} (warning)"
    assert lines[2].startswith('        compared with version 1: the default of the field "total" was 0 and is 1 now')
    assert lines[3].startswith("        fix: ")
    assert "1 warning in 1 file" in ran.err
    (finding,) = checked(run, exit_codes.CLEAN)["findings"]
    assert (finding["check"], finding["severity"], finding["waiver"]) == (CHECK, "warning", None)


def test_only_changed_files_are_compared_for_dangerous_changes(
    app: ASGIApp,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    targets: list[str] = []

    async def record_requests(scope: Any, receive: Any, send: Any) -> None:
        targets.append(f"{scope['method']} {scope['path']}")
        await app(scope, receive, send)

    run = runner(record_requests, monkeypatch, capsys)
    write(BEFORE)
    assert run("check", ".").code == exit_codes.CLEAN
    assert targets == ["POST /subjects/orders-value"]


@pytest.mark.parametrize("level", [Level.FORWARD, Level.FULL_TRANSITIVE, Level.NONE])
def test_a_dangerous_change_is_reported_at_every_level_but_none(registry: Registry, run: Run, level: Level) -> None:
    registry.set_level(level, SUBJECT)
    write()
    expected = [] if level is Level.NONE else [(CHECK, "warning")]
    assert list_checks(checked(run, exit_codes.CLEAN)) == expected


def test_a_changed_default_of_json_schema_is_dangerous(registry: Registry, run: Run) -> None:
    text = '{"type":"object","properties":{"a":{"type":"integer","default":0}}}'
    registry.register("x-value", SchemaDraft(text, SchemaType.JSON))
    write(text.replace(":0}", ":1}"), path="x-value.schema.json")
    assert list_checks(checked(run, exit_codes.CLEAN)) == [("JSON_DEFAULT_CHANGED", "warning")]


def test_fail_on_decides_the_exit_code_and_the_test_cases(registry: Registry, run: Run) -> None:
    write()
    ran = run("check", ".", "--fail-on", "warning", "--report", "junit=junit.xml")
    assert ran.code == exit_codes.FINDINGS
    assert "1 file can be registered\n" in ran.err
    assert ran.err.endswith("this check fails because of --fail-on warning: fix or waive the warnings above\n")
    assert [case.failure is None for case in read_junit(Path("junit.xml").read_text())] == [False]
    assert checked(run, exit_codes.FINDINGS, "--fail-on", "warning")["outcome"] == "compatible"


def test_every_report_format_has_the_warning(registry: Registry, run: Run) -> None:
    write()
    reports = {name: run("check", ".", "--format", name) for name in ("sarif", "github", "gitlab", "junit", "markdown")}
    assert {each.code for each in reports.values()} == {exit_codes.CLEAN}
    (result,) = read_sarif(reports["sarif"].out).results
    assert (result.rule, result.level) == (CHECK, "warning")
    commands = list(filter(None, map(read_workflow_command, reports["github"].out.splitlines())))
    assert [each.name for each in commands] == ["warning"]
    assert [each.check for each in read_gitlab(reports["gitlab"].out)] == [CHECK]
    assert all(case.failure is None for case in read_junit(reports["junit"].out))
    assert CHECK in reports["markdown"].out
    assert "with 1 warning" in reports["markdown"].out


def test_a_plan_shows_dangerous_changes_and_applies_them(registry: Registry, run: Run) -> None:
    write()
    ran = run("plan", ".")
    assert ran.code == exit_codes.CLEAN
    assert f"at /fields/0  {CHECK} (warning)" in ran.out
    (finding,) = run("plan", ".", "--format", "json").body["findings"]
    assert (finding["file"], finding["check"], finding["severity"]) == ("orders-value.avsc", CHECK, "warning")
    assert run("apply", ".").code == exit_codes.CLEAN
    assert registry.versions(SUBJECT) == [1, 2]


def test_an_entry_makes_a_dangerous_change_an_error_for_check_plan_and_apply(registry: Registry, run: Run) -> None:
    write(manifest=entry())
    ran = run("check", ".")
    assert ran.code == exit_codes.FINDINGS
    assert "at level BACKWARD, but it has findings that are errors" in ran.out
    assert f"{CHECK} (error)" in ran.out
    assert "fix or waive the findings above" in ran.err
    assert checked(run, exit_codes.FINDINGS)["outcome"] == "check_failed"
    body = run("check", ".", "--format", "json").body
    assert (body["compatible"], body["passes_checks"]) == (True, False)
    assert "1 with findings of the manifest's checks" in run("check", ".", "--format", "markdown").out
    for verb in ("plan", "apply"):
        assert run(verb, ".").code == exit_codes.FINDINGS
    assert registry.versions(SUBJECT) == [1]


@pytest.mark.parametrize(
    ("more", "severity"),
    [
        ('path = "*.avsc"', "error"),
        ('path = "events/**"', "warning"),
        ('subject = "orders-*"', "error"),
        ('subject = "x"', "warning"),
        ("until = 2999-12-31", "error"),
        ("until = 2020-12-31", "warning"),
    ],
)
def test_an_entry_is_for_paths_and_subjects_until_a_day(registry: Registry, run: Run, more: str, severity: str) -> None:
    write(manifest=entry(more=more))
    code = exit_codes.FINDINGS if severity == "error" else exit_codes.CLEAN
    assert list_checks(checked(run, code)) == [(CHECK, severity)]
    ended = "contractlog.toml:2: the entry for AVRO_DEFAULT_CHANGED ended on 2020-12-31, and its default applies again"
    assert (ended in run("check", ".").err) == ("2020" in more)


def test_a_check_is_turned_off_and_another_one_on(registry: Registry, run: Run) -> None:
    text = DANGEROUS.replace('"doc":"An order.",', "")
    write(text, entry(severity="off") + entry("AVRO_DOC_LOST", "note"))
    assert list_checks(checked(run, exit_codes.CLEAN)) == [("AVRO_DOC_LOST", "note")]
    assert run("check", ".", "--fail-on", "warning").code == exit_codes.CLEAN
    assert run("check", ".", "--fail-on", "note").code == exit_codes.FINDINGS


def test_a_difference_that_the_policy_allows_is_checked_in_the_directions_of_the_level(
    registry: Registry, run: Run
) -> None:
    text = '{"type":"object","properties":{"a":{"type":"string","maxLength":3}}}'
    registry.register("x-value", SchemaDraft(text, SchemaType.JSON))
    write(text.replace("3", "5"), entry("JSON_MAX_LENGTH_INCREASED", "warning"), path="x-value.schema.json")
    assert list_checks(checked(run, exit_codes.CLEAN)) == [("JSON_MAX_LENGTH_INCREASED", "warning")]


def test_the_finding_about_a_schema_alone_can_be_an_error_or_off(registry: Registry, run: Run) -> None:
    check = "JSON_SCHEMA_NONCONFORMING"
    write('{"minLength": -1}', entry(check), path="x-value.schema.json")
    assert checked(run, exit_codes.FINDINGS)["outcome"] == "check_failed"
    registry.register("x-value", SchemaDraft('{"minLength": -1}', SchemaType.JSON))
    assert list_checks(checked(run, exit_codes.CLEAN)) == [(check, "warning")]  # it is registered already
    write('{"minLength": -1}', entry(check, "off"), path="x-value.schema.json")
    assert list_checks(checked(run, exit_codes.CLEAN)) == []


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (entry("AVRO_TYPE_CHANGED", "off"), "contractlog.toml:3:1: `AVRO_TYPE_CHANGED` cannot be changed here"),
        (entry("AVRO_TYPE_CHANGED", "off"), "accept the change in [[waivers]]"),
        (entry("AVRO_DOC_LOSS"), "there is no check `AVRO_DOC_LOSS`; did you mean `AVRO_DOC_LOST`?"),
        (entry(more='until = "2026-02-30"'), "`2026-02-30` is not a day of the calendar"),
        (entry().replace('reason = "agreed on 3 March"', ""), "the key `reason` is missing. Why"),
        (WAIVER.replace(CHECK, "LINT_AVRO_FIELD_DOC"), "did you mean `LINT_AVRO_"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused(registry: Registry, run: Run, manifest: str, words: str) -> None:
    write(manifest=manifest)
    ran = run("check", ".")
    assert ran.code == exit_codes.USAGE
    assert words in ran.err


@pytest.mark.parametrize("severity", ["warning", "error"])
def test_a_waiver_silences_a_dangerous_change(registry: Registry, run: Run, severity: str) -> None:
    write(manifest=entry(severity=severity) + WAIVER)
    ran = run("check", ".", "--fail-on", "warning")
    assert ran.code == exit_codes.CLEAN
    verdict, silenced = ran.out.splitlines()
    assert verdict.startswith("✓ ")
    assert silenced == "    1 finding is silenced by a waiver; --verbose shows it"
    assert "--use-waivers" not in ran.err
    verbose = run("check", ".", "--verbose").out
    assert f"{CHECK} ({severity})" in verbose
    waived = "AVRO_DEFAULT_CHANGED at /fields/0 is waived by ana@example.com until 2999-01-01: no reader uses it"
    assert f"        silenced: {waived}" in verbose
    body = checked(run, exit_codes.CLEAN)
    assert body["outcome"] == "compatible"
    (finding,) = body["findings"]
    assert (finding["severity"], finding["waiver"]["by"], finding["waiver"]["line"]) == (severity, "ana@example.com", 7)
    assert read_sarif(run("check", ".", "--format", "sarif").out).results == []
    assert run("apply", ".").code == exit_codes.CLEAN
    assert registry.versions(SUBJECT) == [1, 2]


def test_a_waiver_that_ended_silences_nothing(registry: Registry, run: Run) -> None:
    write(manifest=WAIVER.replace("2999", "2020"))
    ran = run("check", ".")
    assert f"{CHECK} (warning)" in ran.out
    assert "the waiver of AVRO_DEFAULT_CHANGED by ana@example.com ended on 2020-01-01" in ran.out


def test_quiet_output_has_warnings_with_their_verdict(registry: Registry, run: Run) -> None:
    write()
    ran = run("check", ".", "--quiet")
    assert ran.out.startswith("! orders-value.avsc: ")
    assert f"{CHECK} (warning)" in ran.out
    assert ran.err == ""


def test_a_dangerous_change_of_a_shared_type_is_reported_in_its_file_if_that_is_new(
    registry: Registry, run: Run
) -> None:
    Path("types").mkdir()
    user = '{"type":"record","name":"%s","fields":[{"name":"o","type":"Order"}]}'
    for name in ("a", "b"):
        Path(f"{name}-value.avsc").write_text(user % name.upper())
    write(BEFORE, path="types/Order.avsc")
    assert run("apply", ".").code == exit_codes.CLEAN
    write(path="types/Order.avsc")
    out = run("check", ".").out
    assert out.count(f"at /fields/0  {CHECK}") == 1
    assert f"types/Order.avsc:1:61  at /fields/0  {CHECK} (warning)" in out
    findings = [each["findings"] for each in run("check", ".", "--format", "json").body["files"]]
    assert [len(each) for each in findings] == [1, 0, 0]
    registry.register("Order", SchemaDraft(DANGEROUS))
    out = run("check", ".").out
    assert out.count(f"at Order#/fields/0  {CHECK}") == 1
    assert f"referenced by a-value.avsc, b-value.avsc  at Order#/fields/0  {CHECK} (warning)" in out
