"""Errors of git commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from contractlog.clients.cli.git_repository import run_git
from contractlog.compatibility.errors import UsageError


def test_an_error_has_only_the_beginning_of_a_long_message_of_git(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "--quiet")
    with pytest.raises(UsageError, match=r"^git cannot read what to compare with: .*x…$") as error:
        run_git(tmp_path, "cat-file", "-p", "x" * 50_000)
    assert len(str(error.value)) < 600
