"""Files of a pull request: only regular ones, and no more of them than expected."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contractlog.clients.bounded_file import read_bounded_file


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(path)
    assert read_bounded_file(path, 5) == read_bounded_file(tmp_path / "link", 5) == b"12345"
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_bounded_file(path, 4)


def test_pipes_devices_and_folders_are_rejected_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/zero"), tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
            read_bounded_file(path, 10)
