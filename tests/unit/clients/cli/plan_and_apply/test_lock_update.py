"""The lock after ``apply``: left alone unless ``--update-lock`` is passed, and then as a pull writes it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.clients.lock_file import LOCK


def record(name: str, *types: str) -> str:
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, with a pulled type in a subfolder and its user, both edited since."""
    for module in ("pull.runner", "plan_and_apply.runner", "check.against_option", "check.runner"):
        monkeypatch.setattr(f"contractlog.clients.cli.{module}.connect", lambda _: nullcontext(registry))
    monkeypatch.chdir(tmp_path)
    registry.set_level("NONE")
    (tmp_path / "types").mkdir()
    (tmp_path / "types/Money.avsc").write_text(record("x.Money"))
    (tmp_path / "a-value.avsc").write_text(record("x.A", "x.Money"))
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert main(["pull", "--all", "--out", "."]) == exit_codes.CLEAN
    (tmp_path / "types/Money.avsc").write_text(record("x.Money", "long"))
    return tmp_path


def test_apply_leaves_the_lock_alone_and_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / LOCK).read_bytes()
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert f"note: {LOCK} does not have the new versions of 2 files" in capsys.readouterr().err
    assert (folder / LOCK).read_bytes() == before
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert LOCK not in capsys.readouterr().err, "nothing was registered"


def test_an_updated_lock_is_that_of_a_pull(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", ".", "--update-lock"]) == exit_codes.CLEAN
    assert f"{LOCK}: 2 files updated" in capsys.readouterr().err
    updated = (folder / LOCK).read_bytes()
    assert {(each["file"], each["version"]) for each in json.loads(updated)["schemas"]} == {
        ("a-value.avsc", 2),
        ("types/Money.avsc", 2),
    }
    assert main(["pull", "--all", "--out", "."]) == exit_codes.CLEAN
    assert (folder / LOCK).read_bytes() == updated
    assert main(["check", ".", "--against", "lock"]) == exit_codes.CLEAN
    assert "no file differs from the lock" in capsys.readouterr().err


def test_an_earlier_apply_is_caught_up_with(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "."]) == exit_codes.CLEAN
    assert main(["apply", ".", "--update-lock"]) == exit_codes.CLEAN
    assert f"{LOCK}: 2 files updated" in capsys.readouterr().err
    assert main(["apply", ".", "--update-lock"]) == exit_codes.CLEAN
    assert LOCK not in capsys.readouterr().err


def test_no_lock_is_written_where_there_is_none_or_for_another_context(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (folder / LOCK).read_bytes()
    (folder / "contractlog.toml").write_text('[environments.prod]\nregistry = "http://x"\ncontext = ".prod"\n')
    assert main(["apply", ".", "--environment", "prod", "--update-lock"]) == exit_codes.CLEAN
    assert (folder / LOCK).read_bytes() == before
    (folder / LOCK).unlink()
    assert main(["apply", ".", "--update-lock"]) == exit_codes.CLEAN
    assert not (folder / LOCK).exists()
    assert LOCK not in capsys.readouterr().err
