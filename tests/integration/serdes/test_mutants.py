"""A few thousand mutants of records in every run; ``tests/fuzz/records.py`` says what a finding is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SCRIPT = Path(__file__).parents[2] / "fuzz" / "records.py"


def test_mutants_are_read_or_refused_as_java_and_the_rules_say() -> None:
    command = [sys.executable, str(SCRIPT), "--mutants", "10000", "--seed", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 findings" in done.stdout
