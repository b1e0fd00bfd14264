"""A saved plan in another directory than the one in which it was made."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import SchemaDraft

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}


@pytest.fixture
def repository(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of schemas, as the working directory."""
    monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", lambda _: nullcontext(registry))
    repository = tmp_path / "repository"
    for name in ("schemas", "other", "plans"):
        (repository / name).mkdir(parents=True)
    for name, schema in {"Money": MONEY, "orders-value": ORDER}.items():
        (repository / "schemas" / f"{name}.avsc").write_text(json.dumps(schema))
    (repository / "schemas" / "contractlog.toml").write_text('[[subjects]]\nname = "*-value"\nlevel = "FULL"\n')
    monkeypatch.chdir(repository)
    return repository


@pytest.mark.parametrize("where", ["other", "schemas", "..", "plans"])
@pytest.mark.parametrize("out", ["plan.json", "plans/plan.json", "../plan.json"])
def test_a_plan_is_applied_in_any_directory(
    registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch, where: str, out: str
) -> None:
    assert main(["plan", "schemas", "--out", out]) == exit_codes.CLEAN
    plan = (repository / out).resolve()
    monkeypatch.chdir(repository / where)
    assert main(["apply", "--plan", str(plan)]) == exit_codes.CLEAN
    assert registry.subjects() == ["Money", "orders-value"]
    assert main(["apply", "--plan", str(plan)]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1]


def test_changed_files_are_refused_in_any_directory(
    registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    (repository / "schemas" / "Money.avsc").write_text(json.dumps({**MONEY, "doc": "changed"}))
    monkeypatch.chdir(repository / "other")
    assert main(["apply", "--plan", "../plan.json"]) == exit_codes.FINDINGS
    assert "the files have changed since the plan" in capsys.readouterr().err
    assert registry.subjects() == []


def test_the_repository_may_be_elsewhere_when_the_plan_is_applied(
    registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["plan", "schemas", "--out", "plans/plan.json"]) == exit_codes.CLEAN
    moved = shutil.move(repository, repository.parent / "checkout")
    monkeypatch.chdir(repository.parent)
    assert main(["apply", "--plan", f"{moved}/plans/plan.json"]) == exit_codes.CLEAN
    assert registry.subjects() == ["Money", "orders-value"]


def test_a_plan_that_was_moved_is_for_the_working_directory(
    registry: Registry, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    elsewhere = repository.parent / "elsewhere"
    elsewhere.mkdir()
    plan = shutil.move(repository / "plan.json", elsewhere / "plan.json")
    monkeypatch.chdir(elsewhere)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "`plan.json` is for `schemas`, which is neither at its place relative to the plan" in capsys.readouterr().err
    monkeypatch.chdir(repository)
    assert main(["apply", "--plan", str(plan)]) == exit_codes.CLEAN
    assert registry.subjects() == ["Money", "orders-value"]


def publish(registry: Registry, text: str) -> None:
    registry.register("Money", SchemaDraft(text))


def replace_latest(registry: Registry) -> None:
    registry.delete_version("Money", 1)
    registry.delete_version("Money", 1, permanent=True)
    registry.set_mode(Mode.IMPORT, "Money")
    registry.register("Money", SchemaDraft(json.dumps(MONEY)), version=1, schema_id=99)
    registry.set_mode(Mode.READWRITE, "Money")


@pytest.mark.parametrize(
    ("move", "message"),
    [
        (lambda registry: registry.set_level(Level.NONE, "Money"), "the level of `Money` was BACKWARD and is NONE"),
        (lambda registry: registry.set_level(Level.NONE), "the level of `Money` was BACKWARD and is NONE"),
        (
            lambda registry: registry.set_level(Level.BACKWARD, "Money"),
            "the level of `Money` was inherited and is BACKWARD, with the same level in force",
        ),
        (
            lambda registry: registry.set_mode(Mode.READONLY_OVERRIDE, "orders-value"),
            "the mode of `orders-value` was READWRITE and is READONLY_OVERRIDE",
        ),
        (
            lambda registry: publish(registry, json.dumps(MONEY | {"doc": "new"})),
            "the latest version of `Money` was 1 and is 2",
        ),
        (lambda registry: registry.delete_subject("Money"), "`Money` had version 1 and has none"),
        (replace_latest, "the latest version of `Money`, 1, had id 1 and has id 99"),
    ],
)
def test_what_has_moved_in_the_registry_is_named(
    registry: Registry,
    repository: Path,
    capsys: pytest.CaptureFixture[str],
    move: Callable[[Registry], None],
    message: str,
) -> None:
    publish(registry, json.dumps(MONEY))
    (repository / "schemas" / "orders-value.avsc").write_text('"long"')
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    move(registry)
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.FINDINGS
    error = capsys.readouterr().err
    assert message in error
    assert "nothing was applied: the registry or the files have changed since the plan; plan again" in error
    assert registry.subjects() in ([], ["Money"])


def test_what_the_plan_itself_has_done_is_no_move(registry: Registry, repository: Path) -> None:
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    registry.set_level(Level.FULL, "orders-value")
    publish(registry, json.dumps(MONEY))
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.CLEAN
    assert registry.versions("orders-value") == [1]


def test_a_plan_of_a_development_version_is_rejected(
    registry: Registry, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    body = json.loads((repository / "plan.json").read_text())
    (repository / "plan.json").write_text(json.dumps(body | {"format": "contractlog.plan/1"}))
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "`plan.json` was written by an earlier version of contractlog: plan again" in capsys.readouterr().err


@pytest.mark.parametrize("states", [None, 7, {"Money": 7}, {"Money": {}}, {"Money": {"level": "FULL"}}])
def test_a_plan_without_valid_states_is_no_plan(
    registry: Registry, repository: Path, capsys: pytest.CaptureFixture[str], states: Any
) -> None:
    assert main(["plan", "schemas", "--out", "plan.json"]) == exit_codes.CLEAN
    body = json.loads((repository / "plan.json").read_text())
    (repository / "plan.json").write_text(json.dumps(body | {"subjects": states}))
    assert main(["apply", "--plan", "plan.json"]) == exit_codes.USAGE
    assert "is not a plan that" in capsys.readouterr().err
