"""The verb ``pull``: the files of subjects, and none that was edited is lost."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main
from contractlog.compatibility.schema import SchemaDraft


@pytest.fixture
def registry_of_pull(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Return the registry of this process, which the verb meets."""
    monkeypatch.setattr("contractlog.clients.cli.pull.connect", lambda _: nullcontext(registry))
    return registry


def test_files_are_new_then_unchanged_and_kept_once_edited(
    registry_of_pull: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry_of_pull.register("a-value", SchemaDraft('"string"'))

    def pull(*arguments: str) -> tuple[int, str]:
        code = main(["pull", "a-value", "--out", str(tmp_path), "--format", "json", *arguments])
        return code, json.loads(capsys.readouterr().out)["files"][0]["outcome"]

    assert pull() == (exit_codes.CLEAN, "new")
    assert pull() == (exit_codes.CLEAN, "unchanged")
    (tmp_path / "a-value.avsc").write_text('"long"', encoding="utf-8")
    assert pull() == (exit_codes.FINDINGS, "edited")
    assert (tmp_path / "a-value.avsc").read_text(encoding="utf-8") == '"long"'
    assert pull("--force") == (exit_codes.CLEAN, "changed")


def test_standard_output_is_no_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pull", "--all", "--out", "-"]) == exit_codes.USAGE
    assert "`-` is not a folder" in capsys.readouterr().err
