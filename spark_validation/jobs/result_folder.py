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
from contractlog.compatibility.name_lists import list_first
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.spark_validation.jobs.sigterm_interruption import interrupt_on_sigterm
from contractlog.spark_validation.state.state_files import STATE as STATE_FILE

__all__ = ["ALERTS", "PAGE", "REPORT", "STATE", "VIOLATIONS", "replace_folder"]

ALERTS: Final = "alerts.json"
PAGE: Final = "report.html"
REPORT: Final = "report.json"
STATE: Final = "state"
VIOLATIONS: Final = "violations.parquet"
_FILES: Final = frozenset({ALERTS, PAGE, REPORT})
_FOLDERS: Final = frozenset({STATE, VIOLATIONS})
_SUFFIXES: Final = frozenset({".parquet", ".unfinished"})  #: of files in these folders
_START: Final = re.compile(rb'\s*\{\s*"format"\s*:\s*"contractlog\.')
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
        reports: files that will be written afterwards, perhaps into ``out``.

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
            _keep_foreign_entries(target, fresh)
            _swap_folders(target, fresh)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        os.close(lock)


def _require_replaceable(out: Path, reports: Collection[Path]) -> None:
    """Raise ``UsageError`` if a folder has anything that no audit wrote, which would be lost."""
    if not out.exists():
        return
    written = {report.resolve() for report in reports}
    entries = [entry for entry in _list_entries(out) if entry.resolve() not in written]
    foreign = [entry for entry in entries if not _is_named_by_audit(entry.relative_to(out))]
    if not foreign and not (_has_start(out / REPORT) or _has_start(out / STATE / STATE_FILE)):
        foreign = entries
    if foreign:
        named = list_first([escape_line(str(entry.relative_to(out))) for entry in foreign], _NAMED)
        raise UsageError(
            f"{escape_line(str(out))} exists and has something else than the results of an audit: {named}; "
            "choose another folder with --out",
            out=str(out),
        )


def _list_entries(out: Path) -> list[Path]:
    """Return the entries of a folder, and those of its folders with the names of an audit's."""
    if not out.is_dir():
        return [out]
    entries: list[Path] = []
    for entry in sorted(out.iterdir()):
        inside = sorted(entry.iterdir()) if entry.name in _FOLDERS and entry.is_dir() else []
        entries += inside or [entry]
    return entries


def _keep_foreign_entries(out: Path, fresh: Path) -> None:
    """Move what was put into a folder while the audit ran into the new one."""
    if out.is_dir():
        for entry in _list_entries(out):
            name = entry.relative_to(out)
            if not _is_named_by_audit(name):
                (fresh / name.parent).mkdir(exist_ok=True)
                entry.rename(fresh / name)


def _is_named_by_audit(path: Path) -> bool:
    """Return whether an audit writes files of this name: ``report.json``, or ``state/counts.parquet``."""
    folder, name = path.parent.as_posix(), path.name
    if folder in _FOLDERS:
        return name == STATE_FILE or path.suffix in _SUFFIXES
    return name in _FILES or name in _FOLDERS


def _has_start(file: Path) -> bool:
    """Return whether a file begins as a report or state of an audit does; the rest may be damaged."""
    try:
        with file.open("rb") as content:
            return _START.match(content.read(_START_BYTES)) is not None
    except OSError:
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
