"""A saved plan in another directory than the one in which it was made."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}


@pytest.fixture
def repository(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a folder of schemas, as the working directory."""
    monkeypatch.setattr("contractlog.clients.cli.plan.runner.connect", lambda _: nullcontext(registry))
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
