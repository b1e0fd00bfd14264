"""Folder of an archive, on a disk or in an object store: its topics, and access to their files.

A file appears complete or not at all. On a disk it is written under a hidden name in its folder, and renamed; for an
object store it is written to a temporary file, and uploaded as one object.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = [
    "SCHEMES",
    "ArchiveFolder",
    "Location",
    "hide_parameters",
    "name_topic_folder",
    "open_archive",
    "parse_location",
]

SCHEMES: Final = ("s3", "gs", "abfs", "abfss", "hdfs")  #: of the addresses of object stores
_AZURE: Final = ("abfs", "abfss")
_SECRET: Final = re.compile("[^/@]*:[^@]*@")  #: a name, a secret and what they are for
Location = Path | str
"""A local folder, or the address of one in an object store."""

_SUFFIX: Final = ".parquet"
_UNFINISHED: Final = ".unfinished"


def parse_location(text: str) -> Location:
    """Return a local path, or the address of a folder in an object store.

    Raises:
        UsageError: the address has credentials, which belong in the environment, or is of another kind.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, colon, rest = text.partition(":/")
        if colon and scheme in SCHEMES:
            raise UsageError(f"{scheme}:/… is not an address of an archive: write {scheme}://BUCKET/FOLDER")
        return Path(text)
    if scheme not in SCHEMES:
        schemes = ", ".join(f"{each}://" for each in SCHEMES)
        raise UsageError(f"{escape_line(scheme)}:// is not an address of an archive: use a folder, or {schemes}")
    user = rest.partition("/")[0].rpartition("@")[0]
    # Of Azure, the name before the host is the container. A secret may have a slash.
    if (user and (":" in user or scheme not in _AZURE)) or _SECRET.match(rest):
        raise UsageError(
            f"the address {scheme}://… has credentials, which others could read on the command line: set them in the "
            "environment, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    return text


def name_topic_folder(topic: str) -> str:
    """Return the name of the folder of a topic in an archive.

    Raises:
        UsageError: the name would lead to another folder. Kafka permits no such names, but a broker may send any.
    """
    if any(character in topic for character in "/\\\0"):
        raise UsageError(f"`{escape_line(topic)}` is not a name of a topic, so it has no folder in an archive")
    return f"topic={topic}"


def hide_parameters(location: Location) -> str:
    """Return a location for reports and messages: an address without its parameters."""
    return str(location) if isinstance(location, Path) else location.partition("?")[0].rstrip("/")


@lru_cache(maxsize=16)
def open_archive(location: Location) -> ArchiveFolder:
    """Return the folder at a location; an object store is asked when the folder is read.

    Raises:
        UsageError: the address is not one that the installed pyarrow can open.
    """
    if isinstance(location, Path):
        return ArchiveFolder(str(location), str(location), None)
    try:
        filesystem, root = fs.FileSystem.from_uri(location)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{hide_parameters(location)} cannot be opened: {error}") from error
    return ArchiveFolder(hide_parameters(location), root, filesystem)


@dataclass(frozen=True, slots=True, eq=False)
class ArchiveFolder:
    """The folder of an archive; files in it are named by their paths."""

    location: str  #: for messages
    root: str
    filesystem: fs.FileSystem | None  #: None for files on a disk

    def list_topics(self) -> list[str]:
        """Return the names of the topics, sorted; none if there is no such folder."""
        if self.filesystem is None:
            names = [each.name for each in Path(self.root).glob("topic=*") if each.is_dir()]
        else:
            entries = self._select(self.filesystem, self.root, recursive=False)
            names = [each.base_name for each in entries if each.type is fs.FileType.Directory]
        return sorted(name.removeprefix("topic=") for name in names if name.startswith("topic="))

    def list_files(self, topic: str, *, empty: bool = False) -> list[str]:
        """Return the visible Parquet files of a topic that have content, or those of zero bytes.

        Raises:
            UsageError: one is not a regular file, or the folder of a topic has a link to a folder; its records would be
                left out.
        """
        folder = f"{self.root}/{name_topic_folder(topic)}"
        if self.filesystem is None:
            sizes = list(_list_local_files(folder))
        else:
            entries = self._select(self.filesystem, folder, recursive=True)
            objects = (each for each in entries if each.type is fs.FileType.File and each.path.endswith(_SUFFIX))
            sizes = [(each.path, each.size or 0) for each in objects]
            sizes = [(path, size) for path, size in sizes if _is_visible(PurePosixPath(path).name)]
        return sorted(path for path, size in sizes if (not size) == empty)

    def describe(self, file: str) -> str:
        """Return the name of a file for messages."""
        return f"{self.location}{file.removeprefix(self.root)}"

    def open_parquet(self, file: str) -> pq.ParquetFile:
        """Open a file."""
        return pq.ParquetFile(file, filesystem=self.filesystem, pre_buffer=True)  # few requests to an object store

    def read_range(self, file: str, offset: int, length: int) -> bytes:
        """Return bytes of a file, fewer at its end."""
        with pa.OSFile(file, "rb") if self.filesystem is None else self.filesystem.open_input_file(file) as stream:
            stream.seek(offset)
            return bytes(stream.read(length))

    def read_file(self, name: str, maximum: int) -> bytes | None:
        """Return the content of a small file; None if there is no such file.

        Raises:
            OSError: it cannot be read, or is larger.
        """
        path = f"{self.root}/{name}"
        try:
            if self.filesystem is None:
                return read_bounded_file(Path(path), maximum)
            with self.filesystem.open_input_stream(path) as stream:
                content = stream.read(maximum + 1)
        except FileNotFoundError:
            return None
        if len(content) > maximum:
            raise OSError(errno.EFBIG, f"it is larger than {maximum:,} bytes", path)
        return content

    def stage_file(self, folder: str, label: str) -> Path:
        """Return the path of a local file to write to, before ``publish_file`` or ``unlink``.

        Args:
            folder: the folder of the file, relative to the archive.
            label: words for the temporary name.
        """
        if self.filesystem is not None:
            descriptor, path = tempfile.mkstemp(suffix=_UNFINISHED, prefix=f"{label}-")
            os.close(descriptor)
            return Path(path)
        local = Path(self.root, folder)
        local.mkdir(parents=True, exist_ok=True)
        return local / f".{label}{_SUFFIX}{_UNFINISHED}"

    def publish_file(self, staged: Path, name: str) -> None:
        """Make a staged file appear under a name, relative to the archive."""
        if self.filesystem is None:
            with staged.open("rb") as file:
                os.fsync(file.fileno())
            staged.replace(f"{self.root}/{name}")
            return
        fs.copy_files(
            str(staged),
            f"{self.root}/{name}",
            source_filesystem=fs.LocalFileSystem(),
            destination_filesystem=self.filesystem,
        )
        staged.unlink()

    def remove_unfinished_files(self, topic: str) -> None:
        """Remove what a killed process left on a disk; no other process may write the topic meanwhile."""
        if self.filesystem is None:
            for file in Path(self.root, name_topic_folder(topic)).rglob(f".*{_SUFFIX}{_UNFINISHED}"):
                file.unlink(missing_ok=True)

    def _select(self, filesystem: fs.FileSystem, folder: str, *, recursive: bool) -> list[fs.FileInfo]:
        try:
            return filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=recursive))
        except (pa.ArrowException, OSError) as error:
            raise UsageError(f"{self.location} cannot be listed: {error}") from error


def _is_visible(name: str) -> bool:
    return not name.startswith((".", "_"))


def _list_local_files(folder: str) -> Iterator[tuple[str, int]]:
    for parent, subfolders, files in os.walk(folder):
        for subfolder in filter(_is_visible, subfolders):
            path = Path(parent, subfolder)
            if path.is_symlink():
                raise UsageError(
                    f"{escape_line(str(path))} is a link to a folder: move or mount the folder there instead"
                )
        for name in files:
            if name.endswith(_SUFFIX) and _is_visible(name):
                path = Path(parent, name)
                try:
                    status = path.stat()
                except OSError as error:
                    raise UsageError(f"{escape_line(str(path))} cannot be read: {error.strerror}") from error
                if not stat.S_ISREG(status.st_mode):
                    raise UsageError(f"{escape_line(str(path))} is not a regular file: remove it from the archive")
                yield str(path), status.st_size
