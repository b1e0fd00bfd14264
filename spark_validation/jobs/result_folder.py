"""The folder of an audit's results, which is replaced when a new one is complete."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from contractlog.compatibility.errors import UsageError
from contractlog.spark_validation.jobs.sigterm_interruption import interrupt_on_sigterm

__all__ = ["REPORT", "replace_folder"]

REPORT: Final = "report.json"
_OWNED: Final = ".owned"  #: file in a temporary folder, which its process has locked as long as it runs
_UNFINISHED: Final = "unfinished"
_FORMER: Final = "former"


@contextmanager
def replace_folder(out: Path) -> Iterator[Path]:
    """Yield a new folder beside ``out``, which replaces it if the block succeeds and is removed if not.

    Folders that killed processes have left are removed first. If a process was killed while it replaced ``out``, the
    former results are restored.

    Raises:
        UsageError: ``out`` contains something else than a report, or cannot be written.
    """
    target = out.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        if out.exists() and not (out.is_dir() and ((out / REPORT).exists() or not any(out.iterdir()))):
            raise UsageError(f"{out} exists and is not an audit report; choose another folder with --out", out=str(out))
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
