"""The verb ``register``: all files or none, unless it is told to go on."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli import exit_codes
from contractlog.clients.cli.main import main

FIRST = {"type": "record", "name": "R", "fields": [{"name": "n", "type": "long"}]}
UNREADABLE = {**FIRST, "fields": [{"name": "total", "type": "double"}]}


@pytest.fixture
def folder(registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with the files of two subjects; the verb meets the registry of this process."""
    for topic in ("a", "b"):
        (tmp_path / f"{topic}-value.avsc").write_text(json.dumps(FIRST), encoding="utf-8")
    monkeypatch.setattr("contractlog.clients.cli.register.runner.connect", lambda _: nullcontext(registry))
    return tmp_path


def outcomes(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Return the outcomes by subject, as they were printed."""
    return {file["subject"]: file["outcome"] for file in json.loads(capsys.readouterr().out)["files"]}


def test_files_without_a_finding_are_all_registered(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["register", str(folder), "--format", "json"]) == exit_codes.CLEAN
    assert outcomes(capsys) == {"a-value": "registered", "b-value": "registered"}
    assert registry.subjects() == ["a-value", "b-value"]


def test_a_dry_run_registers_nothing(registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["register", str(folder), "--dry-run", "--format", "json"]) == exit_codes.CLEAN
    assert outcomes(capsys) == {"a-value": "would register", "b-value": "would register"}
    assert registry.subjects() == []


@pytest.mark.parametrize(
    ("arguments", "other"), [([], "skipped"), (["--keep-going"], "registered"), (["--dry-run"], "would register")]
)
def test_a_refused_file_holds_back_the_others_unless_told_to_go_on(
    registry: Registry, folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], other: str
) -> None:
    assert main(["register", str(folder / "a-value.avsc")]) == exit_codes.CLEAN
    capsys.readouterr()
    (folder / "a-value.avsc").write_text(json.dumps(UNREADABLE), encoding="utf-8")
    assert main(["register", str(folder), "--format", "json", *arguments]) == exit_codes.FINDINGS
    assert outcomes(capsys) == {"a-value": "refused", "b-value": other}
    assert registry.subjects() == ["a-value", "b-value"][: 1 + (other == "registered")]
    assert registry.versions("a-value") == [1]
