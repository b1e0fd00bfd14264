"""The installed ``contractlog`` command, as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from support.deadlines import WAIT_SECONDS

__all__ = ["run_installed"]


def run_installed(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command, and return its exit code and output."""
    script = Path(sys.executable).with_name("contractlog")
    return subprocess.run([script, *arguments], capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
