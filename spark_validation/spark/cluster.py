"""The Spark cluster that reads records: its address, and the wheel for its workers."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["LOCAL_MASTER", "SparkCluster", "copy_wheel", "find_submitted_master"]

LOCAL_MASTER: Final = "local[*]"  #: this machine, with all cores
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"  #: variable that ``spark-submit`` sets
_NEEDED: Final = "contractlog/spark_validation/__init__.py"


@dataclass(frozen=True, slots=True)
class SparkCluster:
    """A Spark cluster, or this machine.

    Raises:
        UsageError: there is a wheel, but workers need none; or it is not a wheel of contractlog.
    """

    master: str = LOCAL_MASTER
    wheel: Path | None = None  #: sent to the workers; None: they have contractlog installed

    def __post_init__(self) -> None:
        if self.wheel is None:
            return
        if self.local:
            raise UsageError("--wheel is for the workers of a cluster: name the cluster with --master")
        name = escape_line(str(self.wheel))
        try:
            with ZipFile(self.wheel) as archive:
                complete = _NEEDED in archive.namelist()
        except (OSError, BadZipFile) as error:
            raise UsageError(f"--wheel: `{name}` cannot be read: {error}") from error
        if not complete:
            raise UsageError(f"--wheel: `{name}` is not a wheel of contractlog")

    @property
    def local(self) -> bool:
        """True if the records are read on this machine."""
        return self.master.startswith("local")


def find_submitted_master() -> str | None:
    """Return the master of the ``spark-submit`` that runs this program; None if none does."""
    if _SUBMITTED not in os.environ:
        return None
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - needs Java

    SparkContext._ensure_initialized()  # noqa: SLF001 - the configuration is in the Java process of spark-submit
    return SparkConf().get("spark.master")


def copy_wheel(wheel: Path, folder: Path) -> Path:
    """Copy a wheel under a name that Spark puts on the workers' path: it takes archives by their suffix."""
    return Path(shutil.copyfile(wheel, folder / f"{wheel.stem}.zip"))
