from __future__ import annotations

import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from contractlog.compatibility.errors import UsageError

import environment_check
from environment_check import HOST, check_environment, find_free_port


def test_a_machine_that_runs_these_tests_can_run_the_demo_when_there_is_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=environment_check.REQUIRED_DISK_BYTES))
    assert check_environment(tmp_path / "not" / "there" / "yet").release >= 17
    assert list(tmp_path.iterdir()) == []


def test_all_problems_are_reported_together_one_per_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_java() -> None:
        raise UsageError("Java is needed: install one")

    monkeypatch.setattr(environment_check, "find_java", no_java)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=3 * 2**20))
    with pytest.raises(UsageError) as error:
        check_environment(tmp_path)
    java, disk = str(error.value).splitlines()
    assert java == "Java is needed: install one"
    assert disk == f"1 GiB of disk space is needed in {tmp_path}, 3 MiB are free: name another --folder"


def test_a_port_that_is_taken_is_not_given_again() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert find_free_port(port) != port
    assert find_free_port(port) == port
