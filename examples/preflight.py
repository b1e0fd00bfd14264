"""Checks of the machine before the demo does any work."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from typing import Final

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.spark_validation.java_runtime import Java, find_java

from flights.data import data_folder

__all__ = ["HOST", "free_port", "look_ahead"]

HOST: Final = "127.0.0.1"
DISK: Final = 2**30


def look_ahead(folder: Path) -> Java:
    """Check that everything the demo needs is there, and return the Java to run on.

    Raises:
        UsageError: something is missing; the message lists all of it, each with a solution.
    """
    missing: list[str] = []
    java = None
    try:
        java = find_java()
    except ContractlogError as error:
        missing.append(str(error))
    try:
        data_folder()
    except ContractlogError as error:
        missing.append(str(error))
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    free = shutil.disk_usage(there).free
    if free < DISK:
        missing.append(f"1 GiB of disk is needed in {there}, {free / 2**20:,.0f} MiB are free: name another --folder")
    try:
        free_port()
    except OSError as error:
        missing.append(f"no port can be opened on {HOST} ({error}): registry and broker need three")
    if missing or java is None:
        raise UsageError("\n".join(missing))
    return java


def free_port(preferred: int = 0) -> int:
    """Return a free port: the preferred one if possible."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, preferred))
        except OSError:
            if not preferred:
                raise
            return free_port()
        return int(probe.getsockname()[1])
