"""Files appear complete or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from contractlog.clients.atomic_file import open_atomically


@pytest.fixture
def umask() -> object:
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_a_file_is_there_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(b"old")
    with open_atomically(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    path.write_bytes(b"old")

    def write() -> None:
        with open_atomically(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_atomically(tmp_path / "nowhere" / "index.json"):
        pass


@pytest.mark.parametrize(("permissions", "expected"), [(0o666, 0o640), (0o600, 0o600), (0o755, 0o750)])
def test_permissions_are_those_that_the_umask_leaves(
    tmp_path: Path, umask: object, permissions: int, expected: int
) -> None:
    with open_atomically(tmp_path / "file", permissions):
        pass
    assert (tmp_path / "file").stat().st_mode & 0o777 == expected


def test_a_name_as_long_as_file_systems_allow_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    with open_atomically(path) as file:
        file.write(b"1")
    assert path.read_bytes() == b"1"
