"""A folder of results appears complete, and what killed processes left is removed, nothing else."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
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
    (folder / "report.json").write_text('{"format": "contractlog.audit/1"}')
    if sys.argv[2] == "write":
        print("written", flush=True)
        time.sleep(600)
"""


def write_report(folder: Path, text: str) -> None:
    with replace_folder(folder) as fresh:
        (fresh / "report.json").write_text(f'{{"format": "contractlog.audit/1", "text": "{text}"}}')


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
        report = json.loads((out / "report.json").read_text())
        assert report["text"] == ("meanwhile" if moment == "write" else "former")
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


def list_all(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize(
    ("entries", "named"),
    [
        ({"report.json": "not json", "src/main.py": "x"}, "src"),
        ({"report.json": '{"format": "contractlog.audit/1"}', "notes.txt": "keep me"}, "notes.txt"),
        ({"report.json": '{"tests": 5}'}, "report.json"),
        ({"report.json": ""}, "report.json"),
        ({"report.html": "of another program"}, "report.html"),
        ({"alerts.json": "[]"}, "alerts.json"),
        ({"state/terraform.tfstate": "x"}, "state/terraform.tfstate"),
        ({"report.json": '{"format": "contractlog.audit/1"}', "state/src/main.py": "x"}, "state/src"),
        ({"violations.parquet/table.parquet": "of another program"}, "violations.parquet/table.parquet"),
        (
            {"state/state.json": '{"format": "other"}', "state/counts.parquet": "x"},
            "state/counts.parquet, state/state.json",
        ),
        ({"a": "", "b": "", "c": "", "d": ""}, "a, b, c and 1 more"),
    ],
)
def test_a_folder_with_anything_else_is_refused_and_stays(tmp_path: Path, entries: dict[str, str], named: str) -> None:
    out = tmp_path / "out"
    for name, text in entries.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    before = list_all(tmp_path)
    with pytest.raises(UsageError, match=f"has something else than the results of an audit: {named}"):
        write_report(out, "new")
    assert list_all(tmp_path) == before


def test_what_is_put_into_the_folder_meanwhile_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_report(out, "first")
    with replace_folder(out) as fresh:
        (fresh / "report.json").write_text("{}")
        (out / "thesis.txt").write_text("keep me")
        (out / "state").mkdir()
        (out / "state" / "notes.txt").write_text("keep me, too")
    assert list_all(out) == ["report.json", "state", "state/notes.txt", "thesis.txt"]


def test_the_state_tells_a_folder_of_an_audit_whose_report_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "out" / "state").mkdir(parents=True)
    (tmp_path / "out" / "state" / "state.json").write_text('{"format": "contractlog.state/4"')
    (tmp_path / "out" / "state" / "counts.parquet").touch()
    (tmp_path / "out" / "report.json").write_text("{")
    write_report(tmp_path / "out", "new")
    assert list_all(tmp_path) == ["out", "out/report.json"]


def test_reports_in_the_folder_do_not_stop_the_next_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out"
    write_report(out, "first")
    (out / "junit.xml").write_text("<testsuites/>")
    with replace_folder(out, reports=[Path("out/junit.xml"), Path("elsewhere.md")]) as fresh:
        (fresh / "report.json").write_text("{}")
    assert list_all(out) == ["junit.xml", "report.json"]
