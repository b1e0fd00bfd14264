"""The lock that reserves a SQLite file for one process."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest

from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.sqlite_lock import FileInUse, lock_sqlite_file


def test_the_lock_of_a_file_that_was_not_made_goes_and_still_locks_meanwhile(tmp_path: Path) -> None:
    url = parse_url(f"sqlite:///{tmp_path / 'registry.db'}")
    for _ in range(2):
        with lock_sqlite_file(url):
            assert [path.name for path in tmp_path.iterdir()] == ["registry.db-lock"]
            with pytest.raises(FileInUse), lock_sqlite_file(url):
                pass
            assert [path.name for path in tmp_path.iterdir()] == ["registry.db-lock"]
        assert not list(tmp_path.iterdir())


def test_a_lock_file_that_is_replaced_while_it_is_taken_is_not_taken_for_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its holder unlinks it between the opening and the locking: that handle locks nothing."""
    url, lock = parse_url(f"sqlite:///{tmp_path / 'registry.db'}"), tmp_path / "registry.db-lock"
    flock, left = fcntl.flock, [lock]

    def late(handle: int, operation: int) -> None:
        while left:
            left.pop().unlink()
        flock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with lock_sqlite_file(url):
        assert lock.exists()
        with pytest.raises(FileInUse), lock_sqlite_file(url):
            pass
