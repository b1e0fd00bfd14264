"""The fuzzer of Avro records has no findings, and can detect defects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "records.py"
BROKEN = f"""
import sys, runpy
sys.argv = ['records.py', '--mutants', '6000']
from contractlog.serdes.avro import readers_and_writers
from contractlog.serdes.errors import DecodeError
decode = readers_and_writers.AvroReader.decode
%s
readers_and_writers.AvroReader.decode = broken
runpy.run_path({str(SCRIPT)!r}, run_name='__main__')
"""
LAX = """
def broken(self, data, start=0):
    try:
        return decode(self, data, start)
    except DecodeError as error:
        if error.outcome.name != 'BAD_UTF8':
            raise
"""
UNTYPED = "def broken(self, data, start=0): return decode(self, data, start) if data[:1] != b'!' else data[999]"
GREEDY = "def broken(self, data, start=0): return decode(self, data, start) if data[:1] != b'!' else [0] * 2**26"
OTHER = "def broken(self, data, start=0): return decode(self, data, start) or 'something else'"
SLOW = f"""
import time
sys.path.insert(0, {str(SCRIPT.parents[1])!r})
from support import limited_readers
limited_readers.SECONDS = 1.0
def broken(self, data, start=0):
    until = time.thread_time() + (1.5 if data[:1] == b'!' else 0)
    while time.thread_time() < until:
        pass
    return decode(self, data, start)
"""
ENDLESS = f"""
sys.path.insert(0, {str(SCRIPT.parents[1])!r})
from support import limited_readers
limited_readers.PATIENCE = 3
sys.argv[2] = "400"
def broken(self, data, start=0):
    while data[:2] == b'!!':
        pass
    return decode(self, data, start)
"""
CRASHING = """
import ctypes
def broken(self, data, start=0): return decode(self, data, start) if data[:1] != b'!' else ctypes.string_at(0)
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_fuzzer_of_records_has_no_findings() -> None:
    done = run(str(SCRIPT), "--mutants", "1000000")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        pytest.param(LAX, "wrongly accepted", id="accepts"),
        pytest.param(UNTYPED, "untyped: IndexError", id="untyped"),
        pytest.param(GREEDY, "untyped: MemoryError", id="memory"),
        pytest.param(OTHER, "another answer than the interpreter's", id="value"),
        pytest.param(SLOW, "slow: ", id="slow"),
        pytest.param(ENDLESS.replace("!!", "\\x00\\x00"), "no response in 3 s", id="hang"),
        pytest.param(CRASHING, "the process died", id="crash"),
    ],
)
def test_the_fuzzer_of_records_can_find_something(broken: str, cause: str) -> None:
    done = run("-c", BROKEN % broken)
    assert done.returncode == 1, done.stdout + done.stderr
    assert cause in done.stdout
