"""A folder of results appears complete, and what killed processes left is removed, nothing else."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contractlog.spark_validation.jobs.result_folder import replace_folder

PROGRAM = """
import os, sys, time
from pathlib import Path
from contractlog.spark_validation.jobs.result_folder import replace_folder

def rename_or_die(source, target, rename=Path.rename):
    if source.name.startswith(".audit.unfinished"):
        os.kill(os.getpid(), 9)
    return rename(source, target)

Path.rename = rename_or_die
with replace_folder(Path(sys.argv[1])) as folder:
    (folder / "report.json").write_text("new")
    if sys.argv[2] == "write":
        print("written", flush=True)
        time.sleep(600)
"""


def write_report(folder: Path, text: str) -> None:
    with replace_folder(folder) as fresh:
        (fresh / "report.json").write_text(text)


def run_killed(out: Path, moment: str) -> None:
    """Run a process that is killed, while it writes or while it replaces the folder."""
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(out), moment], stdout=subprocess.PIPE) as process:
        if moment == "write":
            assert process.stdout is not None
            assert process.stdout.readline()
            write_report(out, "meanwhile")  # nothing of a running process is removed
            assert len(list(out.parent.glob(".audit.unfinished-*"))) == 1
            process.send_signal(signal.SIGKILL)
        assert process.wait(120) == -signal.SIGKILL


@pytest.mark.parametrize("moment", ["write", "swap"])
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path, moment: str) -> None:
    out = tmp_path / "audit"
    write_report(out, "former")
    run_killed(out, moment)
    assert len(list(tmp_path.iterdir())) > 1
    with replace_folder(out):
        assert (out / "report.json").read_text() == ("meanwhile" if moment == "write" else "former")
    write_report(out, "last")
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "audit",
        "audit/report.json",
    ]


def test_folders_of_others_are_not_removed(tmp_path: Path) -> None:
    foreign = [tmp_path / ".audit.unfinished-mine", tmp_path / ".audit.former-mine", tmp_path / ".audits.unfinished-1"]
    for folder in foreign:
        folder.mkdir()
        (folder / "notes.txt").write_text("keep me")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".owned").touch()
    (tmp_path / ".audit.unfinished-link").symlink_to(elsewhere)
    write_report(tmp_path / "audit", "new")
    assert all((folder / "notes.txt").exists() for folder in foreign)
    assert (elsewhere / ".owned").exists()
