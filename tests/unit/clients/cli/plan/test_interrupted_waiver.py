"""``apply`` without ``--use-waivers`` after one that was killed during a registration by waiver."""

from __future__ import annotations

import json
import shlex
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
    for module in ("plan.runner", "operations.config"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Money.avsc").write_text(json.dumps(NEW))
    (tmp_path / "contractlog.toml").write_text(MANIFEST)
    registry.register("Money", SchemaDraft(json.dumps(OLD)))
    registry.set_level(Level.NONE, "Money")
    return registry


def test_it_says_what_to_do_and_both_ways_restore_the_level(
    killed: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert (
        "`Money` accepts any schema: it has level NONE, perhaps because `apply --use-waivers` was interrupted" in error
    )
    assert "Run the same command with --use-waivers, which registers the file and sets level BACKWARD" in error
    command = error.rstrip().rpartition("or set only the level: ")[2]
    assert (killed.versions("Money"), killed.level("Money")) == ([1], Level.NONE)
    assert main(shlex.split(command)[1:]) == exit_codes.CLEAN
    assert (killed.versions("Money"), killed.level("Money")) == ([1], Level.BACKWARD)
    killed.set_level(Level.NONE, "Money")
    assert main(["apply", ".", "--use-waivers"]) == exit_codes.CLEAN
    assert (killed.versions("Money"), killed.level("Money")) == ([1, 2], Level.BACKWARD)


def test_nothing_is_said_of_a_level_that_is_as_it_should_be(
    killed: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    killed.set_level(Level.BACKWARD, "Money")
    assert main(["apply", "."]) == exit_codes.USAGE
    error = capsys.readouterr().err
    assert "which needs --use-waivers" in error
    assert "accepts any schema" not in error
