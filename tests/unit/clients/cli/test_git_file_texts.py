"""Texts of files in git: those of its history are bounded."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from contractlog.clients.cli import git_file_texts
from contractlog.clients.cli.git_file_texts import list_earlier_texts


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with the texts "1" to "4" in its history, the third of them larger."""
    path = tmp_path / "a-value.avsc"
    run(tmp_path, "init", "--quiet")
    for text in ("1", "2", "3" * 50, "4"):
        path.write_text(text)
        run(tmp_path, "add", ".")
        run(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", text)
    return path


def run(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


def test_the_earlier_texts_of_a_file_are_listed(file: Path) -> None:
    assert list(list_earlier_texts(file)) == ["4", "3" * 50, "2", "1"]


def test_a_text_that_is_no_schema_file_is_left_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_file_texts, "MAX_SCHEMA_FILE_BYTES", 49)
    assert list(list_earlier_texts(file)) == ["4", "2", "1"]


def test_the_history_is_read_up_to_the_limit_of_a_revision(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_file_texts, "MAX_REVISION_BYTES", 52)
    assert list(list_earlier_texts(file)) == ["4", "3" * 50, "2"]
