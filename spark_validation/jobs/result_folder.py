"""The folder of an audit's results, which is replaced when a new one is complete."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.terminal_text import escape_line
from contractlog.spark_validation.jobs.sigterm_interruption import interrupt_on_sigterm

__all__ = ["ALERTS", "PAGE", "REPORT", "STATE", "VIOLATIONS", "replace_folder"]

ALERTS: Final = "alerts.json"
PAGE: Final = "report.html"
REPORT: Final = "report.json"
STATE: Final = "state"
VIOLATIONS: Final = "violations.parquet"
_ENTRIES: Final = frozenset({ALERTS, PAGE, REPORT, STATE, VIOLATIONS})
_REPORT_START: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"contractlog\.')
_START_BYTES: Final = 1_000
_NAMED: Final = 3  #: foreign entries in a message
_OWNED: Final = ".owned"  #: file in a temporary folder, which its process has locked as long as it runs
_UNFINISHED: Final = "unfinished"
_FORMER: Final = "former"


@contextmanager
def replace_folder(out: Path, *, reports: Collection[Path] = ()) -> Iterator[Path]:
    """Yield a new folder beside ``out``, which replaces it if the block succeeds and is removed if not.

    Folders that killed processes have left are removed first. If a process was killed while it replaced ``out``, the
    former results are restored.

    Args:
        out: the folder of an audit's results, or a new or empty folder.
        reports: files that will be written afterwards, perhaps into ``out``; former ones may be removed.

    Raises:
        UsageError: ``out`` contains something else than the results of an audit, or cannot be written.
    """
    target = out.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        _require_replaceable(out, reports)
        fresh, lock = _make_folder(target, _UNFINISHED)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error}", out=str(out)) from error
    try:
        with interrupt_on_sigterm():
            yield fresh
            fresh.chmod(0o755)
            _swap_folders(target, fresh)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        os.close(lock)


def _require_replaceable(out: Path, reports: Collection[Path]) -> None:
    """Raise ``UsageError`` if a folder has anything that no audit wrote, which would be lost."""
    if not out.exists():
        return
    written = {report.resolve() for report in reports}
    entries = list(out.iterdir()) if out.is_dir() else [out]
    entries = [entry for entry in entries if entry.resolve() not in written]
    foreign = sorted(entry.name for entry in entries if entry.name not in _ENTRIES)
    if not foreign and entries and not _is_report(out / REPORT) and not (out / STATE).is_dir():
        foreign = [entry.name for entry in entries]
    if foreign:
        named = ", ".join(escape_line(name) for name in foreign[:_NAMED])
        more = f" and {len(foreign) - _NAMED:,} more" if len(foreign) > _NAMED else ""
        raise UsageError(
            f"{escape_line(str(out))} exists and has something else than the results of an audit: {named}{more}; "
            "choose another folder with --out",
            out=str(out),
        )


def _is_report(file: Path) -> bool:
    """Return whether a file begins as a report of an audit does; the rest may be damaged."""
    try:
        with file.open("rb") as report:
            return _REPORT_START.match(report.read(_START_BYTES)) is not None
    except FileNotFoundError:
        return False


def _swap_folders(target: Path, fresh: Path) -> None:
    """Replace a folder by another; if that is interrupted half-way, the former one is restored."""
    former, lock = _make_folder(target, _FORMER)
    backup = former / target.name
    try:
        if target.exists():
            target.rename(backup)
        fresh.rename(target)
        (target / _OWNED).unlink()
    finally:
        if backup.exists() and not target.exists():
            backup.rename(target)
        shutil.rmtree(former, ignore_errors=True)
        os.close(lock)


def _make_folder(target: Path, kind: str) -> tuple[Path, int]:
    """Make a temporary folder beside another; return it and the lock that marks it as in use."""
    folder = Path(mkdtemp(prefix=f".{target.name}.{kind}-", dir=target.parent))
    lock = os.open(folder, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    (folder / _OWNED).touch()  # the folder is locked when this appears
    return folder, lock


def _remove_leftovers(target: Path) -> None:
    """Remove temporary folders of processes that have ended; restore former results that one has left."""
    for kind in (_FORMER, _UNFINISHED):
        for folder in sorted(target.parent.iterdir()):
            if not folder.name.startswith(f".{target.name}.{kind}-") or folder.is_symlink():
                continue
            lock = _lock_abandoned(folder)
            if lock is None:
                continue
            try:
                backup = folder / target.name
                if kind == _FORMER and backup.exists() and not target.exists():
                    backup.rename(target)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _lock_abandoned(folder: Path) -> int | None:
    """Lock a folder whose process has ended; None if it runs, or the folder is not one of ours."""
    if not (folder / _OWNED).exists():
        return None
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
