"""Class-data-sharing archives, which halve the start time of Java."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from contractlog.spark_validation.spark.java_runtime import Java, user_cache

__all__ = ["class_archive_options"]

#: The first bytes of a complete archive of loaded classes; Java writes them last.
_COMPLETE: Final = (0xF00BABA8).to_bytes(4, "little"), (0xF00BABA8).to_bytes(4, "big")
_UNUSED_AFTER_SECONDS: Final = 30 * 86400.0
_ABANDONED_AFTER_SECONDS: Final = 3600.0
#: Java reports each class that it cannot archive on standard output, which belongs to the command's result.
_QUIET: Final = ("-Xlog:disable", "-Xlog:all=error:stderr")


def class_archive_options(
    java: Java, program: str, jars: Path, environ: Mapping[str, str] = os.environ
) -> tuple[str, ...]:
    """Return the options for a Java program to use the archive of an earlier run, or else to write one.

    An archive is written when the program exits. Java itself rejects one that does not fit its release or the jars,
    and then starts as without it. The archives are in ``contractlog/classes`` of the user's cache folder (about 170 MB
    for Spark); those not used for 30 days are removed. Without a cache folder that only this user can write to, there
    are no options.

    Args:
        java: The runtime that will run the program.
        program: A short name for files, for example ``spark``.
        jars: Folder of the program's jars.
        environ: Environment variables; ``XDG_CACHE_HOME`` names the user's cache folder.
    """
    folder = user_cache(environ) / "classes"
    try:
        archive = folder / f"{program}-{_fingerprint(java, jars)}.jsa"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return ()
        _adopt_written(archive)
        if archive.exists():
            os.utime(archive)
            return (f"-XX:SharedArchiveFile={archive}", *_QUIET)
    except OSError:
        return ()
    written = archive.with_name(f"{archive.stem}.written-{os.getpid()}")
    return (f"-XX:ArchiveClassesAtExit={written}", *_QUIET)


def _fingerprint(java: Java, jars: Path) -> str:
    """Identify an installation of Java and of the program."""
    modules = java.command.parent.parent / "lib" / "modules"
    parts = [str(path) for path in (java.command, jars)]
    parts += [f"{path.stat().st_mtime_ns}" for path in (modules, jars)]
    return sha256("\n".join(parts).encode()).hexdigest()[:12]


def _is_private(folder: Path) -> bool:
    """Return whether nobody else can write to the folder: an archive holds code that is run."""
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _adopt_written(archive: Path) -> None:
    """Take over an archive that an earlier run completed; remove abandoned and unused ones."""
    now = time.time()
    for written in archive.parent.glob("*.written-*"):
        with suppress(FileNotFoundError):  # another process did it
            if written.name.startswith(f"{archive.stem}.") and _is_complete(written):
                written.replace(archive)
            elif now - written.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                written.unlink()
    for other in archive.parent.glob("*.jsa"):
        with suppress(FileNotFoundError):
            if other != archive and now - other.stat().st_mtime > _UNUSED_AFTER_SECONDS:
                other.unlink()


def _is_complete(written: Path) -> bool:
    with written.open("rb") as file:
        return file.read(4) in _COMPLETE
