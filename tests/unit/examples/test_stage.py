"""What plays on a folder already is refused before anything of it is touched."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from locks import locked

from contractlog.compatibility.errors import UsageError

from stage import MARK, Stage
from talk import Talk


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    (tmp_path / MARK).touch()
    (tmp_path / "kafka").mkdir()
    (tmp_path / "registry.db").write_text("precious")
    return Stage(tmp_path, Talk())


@pytest.mark.parametrize(
    ("lock", "words"), [("registry.db-lock", "serves a registry"), ("kafka/owner.lock", "is running a broker")]
)
def test_a_folder_in_use_is_refused_and_left_alone(stage: Stage, lock: str, words: str) -> None:
    with locked(stage.folder / lock), pytest.raises(UsageError) as refused, stage:
        pytest.fail("it plays")
    assert re.search(rf"process {os.getpid()} {words} .* `kill {os.getpid()}`", str(refused.value))
    assert (stage.folder / "registry.db").read_text() == "precious"


def test_a_folder_that_nobody_uses_is_emptied(stage: Stage) -> None:
    with stage:
        assert [entry.name for entry in stage.folder.iterdir()] == [MARK]
