"""``apply`` after one that was killed during a registration by waiver, and cannot do the same again."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import SchemaDraft

OLD = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
NEW = {**OLD, "fields": [{"name": "amount", "type": "string"}]}
MANIFEST = """
[[subjects]]
name = "Money"
level = "BACKWARD"
[[waivers]]
subject = "Money"
check = "AVRO_TYPE_CHANGED"
reason = "nobody reads it"
by = "ana"
until = 2999-01-01
"""


@pytest.fixture
def killed(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The registry as the process left it: the level is lowered, the version is not registered."""
    monkeypatch.setattr("contractlog.clients.cli.plan_and_apply.runner.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Money.avsc").write_text(json.dumps(NEW))
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    registry.register("Money", SchemaDraft(json.dumps(OLD)))
    registry.set_level(Level.NONE, "Money")
    return registry


def is_restored(registry: Registry) -> bool:
    return (registry.versions("Money"), registry.level("Money")) == ([1], Level.BACKWARD)


def test_without_the_option_the_level_is_restored_and_nothing_else_done(
    killed: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", "."]) == exit_codes.USAGE
    printed = capsys.readouterr()
    assert "level of `Money`: NONE -> BACKWARD" in printed.out
    assert "1 level restored, nothing else was applied: 1 file would be registered by a waiver" in printed.err
    assert is_restored(killed)
    killed.set_level(Level.NONE, "Money")
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.CLEAN
    assert (killed.versions("Money"), killed.level("Money")) == ([1, 2], Level.BACKWARD)


def expire(folder: Path) -> None:
    (folder / "contractlog.toml").write_text(MANIFEST.replace("2999", "2020"))


def add_incompatible(folder: Path) -> None:
    (folder / "other-value.avsc").write_text('"int"')


def add_unreadable(folder: Path) -> None:
    (folder / "bad-value.avsc").write_text("{")


def break_file(folder: Path) -> None:
    (folder / "Money.avsc").write_text("{")


def lower_user(folder: Path) -> None:
    """Let the subject with the level be one that uses the type of the waiver."""
    (folder / "contractlog.toml").write_text(MANIFEST.replace('name = "Money"', 'name = "*"'))
    (folder / "user-value.avsc").write_text('["null", "Money"]')
    add_incompatible(folder)


@pytest.mark.parametrize("block", [expire, add_incompatible, add_unreadable, break_file, lower_user])
@pytest.mark.parametrize("option", ["--color=never", "--use-waivers"])
def test_the_level_is_restored_although_the_rest_is_blocked(
    killed: Registry,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    block: Callable[[Path], None],
    option: str,
) -> None:
    killed.register("other-value", SchemaDraft('"string"'))
    block(tmp_path)
    assert main(["plan", "."]) != exit_codes.CLEAN
    error = capsys.readouterr().err
    assert "warning: `Money` accepts any schema: it has level NONE, perhaps because `apply --use-waivers`" in error
    assert killed.level("Money") is Level.NONE
    assert main(["apply", ".", option]) != exit_codes.CLEAN
    assert "1 level restored, nothing else was applied" in capsys.readouterr().err.replace("2 levels", "1 level")
    assert is_restored(killed)
    assert main(["apply", ".", option]) != exit_codes.CLEAN
    assert "nothing was applied" in capsys.readouterr().err


def test_the_level_of_a_user_of_the_type_is_restored(killed: Registry, tmp_path: Path) -> None:
    lower_user(tmp_path)
    killed.register("other-value", SchemaDraft('"string"'))
    killed.register("user-value", SchemaDraft('"int"'))
    killed.set_level(Level.NONE, "user-value")
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.FINDINGS
    assert killed.level("user-value") is Level.BACKWARD
    assert killed.versions("user-value") == [1]


def test_a_level_without_a_waiver_or_of_its_own_is_left(killed: Registry, tmp_path: Path) -> None:
    killed.register("other-value", SchemaDraft('"string"'))
    killed.set_level(Level.NONE, "other-value")
    expire(tmp_path)
    manifest = (tmp_path / "contractlog.toml").read_text()
    (tmp_path / "contractlog.toml").write_text(manifest.replace('name = "Money"', 'name = "*"'))
    add_unreadable(tmp_path)
    assert main(["apply", "."]) == exit_codes.USAGE
    assert killed.level("Money") is Level.BACKWARD
    killed.set_config({"compatibility": None}, "Money")
    killed.set_level(Level.NONE)
    add_incompatible(tmp_path)
    assert main(["apply", "."]) == exit_codes.USAGE
    assert killed.level("other-value") is Level.NONE
    assert killed.level("Money") is Level.NONE


def test_nothing_is_said_of_a_level_that_is_as_it_should_be(
    killed: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    killed.set_level(Level.BACKWARD, "Money")
    assert main(["apply", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "which needs --use-waivers" in error
    assert "nothing was applied: 1 file would be" in error
