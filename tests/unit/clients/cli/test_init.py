"""The manifest that ``init`` writes is valid, and complete enough for ``check`` and ``plan``."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.cli.schema_folder.manifest import Environment, load_manifest
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, SchemaDraft

MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "total", "type": "Money"}]}


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in ("check.runner", "plan_and_apply.runner", "init"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", "http://me:secret@one:8081")
    (tmp_path / "schemas" / "v[1]").mkdir(parents=True)
    for name, schema in {"Money": MONEY, "v[1]/my orders": ORDER, "clicks-value": "string"}.items():
        (tmp_path / "schemas" / f"{name}.avsc").write_text(json.dumps(schema))
    return tmp_path / "schemas"


def test_check_and_plan_work_with_the_manifest_that_was_written(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "schemas"]) == exit_codes.USAGE
    assert "my orders.avsc` has no subject" in capsys.readouterr().err
    assert main(["init", "schemas"]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "my orders.avsc: suggested subject `my orders-value`" in output.out
    assert "schemas/contractlog.toml was written: 1 environment, 1 suggested subject" in output.err
    manifest = load_manifest(folder / "contractlog.toml")
    assert manifest.environments == {"default": Environment("http://one:8081")}
    assert main(["check", "schemas"]) == exit_codes.CLEAN
    assert main(["apply", "schemas"]) == exit_codes.CLEAN
    assert registry.subjects() == ["Money", "clicks-value", "my orders-value"]
    assert main(["plan", "schemas", "--exit-code"]) == exit_codes.CLEAN


def test_the_levels_of_a_registry_are_in_the_manifest(registry: Registry, tmp_path: Path, folder: Path) -> None:
    for subject in ("a-value", "b-value"):
        registry.register(subject, SchemaDraft(json.dumps(MONEY)))
    registry.set_level(Level.FULL, "b-value")
    assert main(["init", "--from-registry"]) == exit_codes.CLEAN
    [rule] = load_manifest(tmp_path / "contractlog.toml").subjects
    assert (rule.name, rule.settings) == ("b-value", {"level": "FULL"})


def test_a_file_that_is_registered_has_the_subjects_that_it_is_registered_under(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.register("Money", SchemaDraft(json.dumps(MONEY)))
    order = SchemaDraft(json.dumps(ORDER), references=(Reference("Money", "Money", 1),))
    for subject in ("shop-orders-value", "retries-value"):
        registry.register(subject, order)
    (folder / "my orders.avsc").write_text(json.dumps({**ORDER, "doc": "of another shop"}))
    (folder / "v[1]" / "my orders.avsc").write_text(json.dumps(ORDER, indent=7))
    assert main(["init", "--from-registry", "schemas"]) == exit_codes.CLEAN
    output = capsys.readouterr()
    assert "v[1]/my orders.avsc: registered as `retries-value`, `shop-orders-value`" in output.out
    assert "\nv[1]/my orders.avsc: suggested" not in output.out
    assert "1 suggested subject, subjects of 1 registered file," in output.err
    (folder / "my orders.avsc").unlink()
    (folder / "clicks-value.avsc").unlink()
    assert main(["plan", "schemas", "--exit-code"]) == exit_codes.CLEAN


def test_a_manifest_is_never_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "contractlog.toml").write_text("# mine")
    assert main(["init", "schemas"]) == exit_codes.USAGE
    assert "exists already: edit it, or remove it first" in capsys.readouterr().err
    assert (folder / "contractlog.toml").read_text() == "# mine"


def test_a_folder_without_schemas_gets_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "missing"]) == exit_codes.USAGE
    assert main(["init"]) == exit_codes.CLEAN
    assert load_manifest(tmp_path / "contractlog.toml").files == ()
