"""The demo rejects a folder in use before it changes anything in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError

from demo_environment import MARKER, DemoEnvironment
from file_lock import lock_file
from terminal_output import TerminalOutput


@pytest.fixture
def environment(tmp_path: Path) -> DemoEnvironment:
    (tmp_path / MARKER).touch()
    (tmp_path / "kafka").mkdir()
    (tmp_path / "registry.db").write_text("precious")
    return DemoEnvironment(tmp_path, TerminalOutput())


@pytest.mark.parametrize(
    ("lock", "words"), [("registry.db-lock", "serves a registry"), ("kafka/owner.lock", "is running a broker")]
)
def test_a_folder_in_use_is_refused_and_left_alone(environment: DemoEnvironment, lock: str, words: str) -> None:
    with lock_file(environment.folder / lock), pytest.raises(UsageError) as refused, environment:
        pytest.fail("it plays")
    assert re.search(rf"process {os.getpid()} {words} .* `kill {os.getpid()}`", str(refused.value))
    assert (environment.folder / "registry.db").read_text() == "precious"


def test_a_folder_that_nobody_uses_is_emptied(environment: DemoEnvironment) -> None:
    with environment:
        assert [entry.name for entry in environment.folder.iterdir()] == [MARKER]
