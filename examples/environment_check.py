"""Checks of the machine before the demo does any work."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Final

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.spark_validation.spark.java_runtime import Java, find_java

from flights.events import find_data_folder

__all__ = ["HOST", "check_environment", "find_free_port"]

HOST: Final = "127.0.0.1"
REQUIRED_DISK_BYTES: Final = 2**30


def check_environment(folder: Path) -> Java:
    """Check that the machine has everything that the demo needs, and return the Java to use.

    Raises:
        UsageError: something is missing; the message lists every problem, each with a solution.
    """
    problems: list[str] = []
    java = None
    try:
        java = find_java()
    except ContractlogError as error:
        problems.append(str(error))
    try:
        find_data_folder()
    except ContractlogError as error:
        problems.append(str(error))
    if shutil.which("git") is None:
        problems.append("git is needed for the repository of schemas: install the package git")
    existing_folder = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free_bytes = shutil.disk_usage(existing_folder).free
    if free_bytes < REQUIRED_DISK_BYTES:
        problems.append(
            f"1 GiB of disk space is needed in {existing_folder}, {free_bytes / 2**20:,.0f} MiB are free: "
            "name another --folder"
        )
    try:
        find_free_port()
    except OSError as error:
        problems.append(f"no port can be opened on {HOST} ({error}): registry and broker need three")
    if problems or java is None:
        raise UsageError("\n".join(problems))
    return java


def find_free_port(preferred: int = 0) -> int:
    """Return a free port: the preferred one if possible."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, preferred))
        except OSError:
            if not preferred:
                raise
            return find_free_port()
        return int(probe.getsockname()[1])
