"""A typed user program passes mypy's strict mode, and its mistakes are detected."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def test_a_users_programs_pass_mypy_in_its_strict_mode() -> None:
    """The programs hold mistakes, too: an ignored one that mypy does not see is an error of its own."""
    mypy = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary"]
    command = [*mypy, "--config-file=", *map(str, PROGRAMS)]
    links = os.environ | {"MYPYPATH": str(ROOT / ".typing"), "MYPY_CACHE_DIR": str(ROOT / ".cache" / "mypy-users")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=links, cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
