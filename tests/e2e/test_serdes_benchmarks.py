"""The serializer benchmarks run, agree with the reference, and detect growing memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

pytestmark = pytest.mark.e2e

SCRIPTS: Final = Path(__file__).parents[2] / "benchmarks" / "serdes"


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPTS / script), *arguments], capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.slow
def test_both_sides_agree_on_what_is_timed_and_broken_records_do_no_harm() -> None:
    done = run("run.py", "--rounds", "1", "--records", "20", "--mutants", "100")
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()[2:]
    assert len(rows) == 50
    assert all("mutants: " in row and "HARMFUL" not in row for row in rows), done.stdout


@pytest.mark.slow
def test_a_process_that_meets_many_schemas_keeps_its_size() -> None:
    done = run("memory.py", "--check", "--schemas", "3000")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
