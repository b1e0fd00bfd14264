"""The executions of rules agree with cel-python on random records, and the fuzzer can detect defects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "rules.py"
BROKEN = f"""
import sys, runpy
sys.argv = ['rules.py', '--records', '2000']
from contractlog.spark_validation.rules.condition import RecordCondition
evaluate = RecordCondition.evaluate
def broken(self, batch):
    result = evaluate(self, batch)
    result.broken[0] = not result.broken[0]
    return result
RecordCondition.evaluate = broken
runpy.run_path({str(SCRIPT)!r}, run_name='__main__')
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_fuzzer_of_rules_finds_nothing() -> None:
    done = run(str(SCRIPT), "--records", "50000", "--seconds", "60")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_fuzzer_of_rules_can_find_something() -> None:
    done = run("-c", BROKEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FINDING audit" in done.stdout
