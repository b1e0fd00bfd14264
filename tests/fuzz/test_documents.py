"""The fuzzer of JSON records has no findings, and can detect defects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "documents.py"
BROKEN = f"""
import sys, runpy
sys.argv = ['documents.py', '--mutants', '20000']
from contractlog.serdes.json_schema import readers_and_writers
read = readers_and_writers.read_document
def broken(body):
    value = read(body)
    return {{}} if value == {{}} else 1.0 * value if type(value) is int else value
readers_and_writers.read_document = broken
runpy.run_path({str(SCRIPT)!r}, run_name='__main__')
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_fuzzer_of_documents_finds_nothing() -> None:
    done = run(str(SCRIPT), "--mutants", "200000")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_fuzzer_of_documents_can_find_something() -> None:
    done = run("-c", BROKEN)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FINDING another value" in done.stdout
