"""A few thousand mutated records in every run of the tests; see ``tests/fuzz``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.spark]

FUZZ = Path(__file__).parents[2] / "fuzz"


@pytest.mark.parametrize(("script", "mutants"), [("records.py", 4_000), ("documents.py", 2_000)])
def test_mutants_are_read_or_refused_as_the_judges_and_the_rules_say(script: str, mutants: int) -> None:
    command = [sys.executable, str(FUZZ / script), "--mutants", str(mutants), "--seed", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 findings" in done.stdout
