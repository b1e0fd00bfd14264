"""The fuzzer of schemas has no findings within ``FUZZ_SECONDS``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "schemas.py"


def fuzz(seconds: float, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), "--seconds", str(seconds), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_fuzzer_of_schemas_finds_nothing() -> None:
    """The same texts in every run, as far as it comes; ``make soak`` makes others. Only what hangs is too slow here."""
    done = fuzz(float(os.environ.get("FUZZ_SECONDS", "120")), "--seed", "1", "--step-seconds", "20")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_fuzzer_of_schemas_can_find_something() -> None:
    """A canonical text that is not canonical is seen: with a broken writer there are findings."""
    broken = (
        "import sys, runpy; sys.argv = ['schemas.py', '--seconds', '20', '--seed', '1', '--type', 'AVRO'];"
        "import contractlog.compatibility.avro.schema_format as format;"
        "write = format.format_texts;"
        'format.format_texts = lambda *of: tuple(text.replace(\'"name":"\', \'"name":"a\') for text in write(*of));'
        f"runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "written differently" in done.stdout
