"""Reports of ``plan`` and ``register``: the outcome of each file, and all other changes."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
CURRENCY = {"name": "currency", "type": "string"}
MANIFEST = """
[[subjects]]
name = "*-value"
level = "FULL"
"""


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("register.runner", "plan_and_apply.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    for name, schema in {"clicks-value": "string", "Money": MONEY}.items():
        put(tmp_path, name, schema)
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    return tmp_path


def put(folder: Path, name: str, schema: Any) -> None:
    (folder / f"{name}.avsc").write_text(json.dumps(schema))


def test_a_plan_in_markdown_has_new_versions_settings_deletions_and_drift(registry: Registry, folder: Path) -> None:
    registry.register("gone-value", SchemaDraft(json.dumps("int")))
    registry.register("Money", SchemaDraft(json.dumps(MONEY)))
    with_currency = {**MONEY, "fields": [*MONEY["fields"], CURRENCY | {"default": ""}]}
    registry.register("Money", SchemaDraft(json.dumps(with_currency)))
    assert main(["plan", "--prune", "--report", "markdown=plan.md"]) == exit_codes.CLEAN
    text = (folder / "plan.md").read_text()
    assert (
        "contractlog plan: 1 version would be registered, 1 level would be set, 1 subject would be soft-deleted" in text
    )
    assert "#### ✓ `clicks-value.avsc`\n\nWould be a new version of `clicks-value`." in text
    for cells in (("clicks-value", "level", "BACKWARD", "FULL"), ("gone-value", "1"), ("Money", "1", "2")):
        assert any(all(cell in line for cell in cells) for line in text.splitlines() if line.startswith("|")), cells


def test_drift_is_a_warning_in_every_report_format(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["apply", "."])
    registry.register("gone-value", SchemaDraft(json.dumps("int")))
    with_currency = {**MONEY, "fields": [*MONEY["fields"], CURRENCY | {"default": ""}]}
    registry.register("Money", SchemaDraft(json.dumps(with_currency)))
    output = {}
    for name in ("github", "gitlab", "sarif", "junit"):
        capsys.readouterr()
        assert main(["plan", ".", "--exit-code", "--format", name]) == exit_codes.FINDINGS
        output[name] = capsys.readouterr().out
    expected = [("Money.avsc", "`Money`: version 2 of"), ("contractlog.toml", "`gone-value`: it matches [[subjects]]")]
    warnings = [line for line in output["github"].splitlines() if line.startswith("::warning ")]
    entries = json.loads(output["gitlab"])
    [log] = json.loads(output["sarif"])["runs"]
    case = next(each for each in ET.fromstring(output["junit"]).iter("testcase") if each.find("system-out") is not None)  # noqa: S314
    for number, (path, message) in enumerate(expected):
        assert f"file={path}," in warnings[number]
        assert message in warnings[number]
        assert (entries[number]["check_name"], entries[number]["location"]["path"]) == ("PLAN_DRIFT", path)
        result = log["results"][number]
        assert (result["ruleId"], result["level"]) == ("PLAN_DRIFT", "warning")
        assert message in result["message"]["text"]
        assert message in case.findtext("system-out", "")
    assert [each["id"] for each in log["tool"]["driver"]["rules"]] == ["PLAN_DRIFT"]
    assert case.find("failure") is None


def test_a_setting_in_markdown_is_json(folder: Path) -> None:
    (folder / "contractlog.toml").write_text('[[subjects]]\nname = "Money"\nowner = "team-a"\n')
    put(folder, "Money", MONEY)
    assert main(["plan", "--report", "markdown=plan.md"]) == exit_codes.CLEAN
    row = '| Money | `override_metadata` | not set | `{"properties": {"owner": "team-a"}}` |'
    assert row in (folder / "plan.md").read_text().splitlines()


@pytest.mark.parametrize("command", ["plan", "register"])
def test_a_refused_file_and_those_that_depend_on_it_fail(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    registry.register("Money", SchemaDraft(json.dumps(MONEY)))
    put(folder, "Money", {**MONEY, "fields": [CURRENCY]})
    put(folder, "orders-value", {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]})
    assert main([command, "."]) == exit_codes.FINDINGS
    skipped = {
        "plan": "1 file cannot be registered, and 1 other would wait for it:",
        "register": "2 skipped, 1 refused, ",
    }
    assert skipped[command] in capsys.readouterr().err
    assert main([command, ".", "--format", "junit"]) == exit_codes.FINDINGS
    suite = ET.fromstring(capsys.readouterr().out)  # noqa: S314 - written by the command
    failed = [case.get("name", "") for case in suite.iter("testcase") if case.find("failure") is not None]
    expected = ["Money", "orders-value"] if command == "plan" else ["Money", "clicks-value", "orders-value"]
    assert [any(name in case for case in failed) for name in expected] == [True] * len(failed)
    assert registry.versions("Money") == [1]


@pytest.mark.parametrize("command", ["plan", "register"])
def test_a_file_that_cannot_be_read_is_in_the_report(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    put(folder, "broken-value", "no such type")
    assert main([command, ".", "--format", "sarif"]) == exit_codes.USAGE
    [run] = json.loads(capsys.readouterr().out or '{"runs": [{"results": []}]}')["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["UNREADABLE_FILE"]


def test_registered_files_pass(registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["register", ".", "--format", "junit", "--level", "FULL"]) == exit_codes.CLEAN
        suite = ET.fromstring(capsys.readouterr().out)  # noqa: S314 - written by the command
        assert len(list(suite.iter("testcase"))) == 2
        assert not list(suite.iter("failure"))
    assert (registry.versions("Money"), registry.level("Money")) == ([1], Level.FULL)
