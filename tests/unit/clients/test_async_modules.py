"""The half of the clients that is async_modules says what the half that waits says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
CHECK = """
import sys
from pathlib import Path
sys.path.insert(0, "docs")
from async_modules import ASYNC_MODULES
print(*(name for name, made in ASYNC_MODULES.items() if Path(name).read_text("utf-8") != "".join(made())))
print(len(ASYNC_MODULES))
"""


def test_what_is_awaited_is_made_from_what_waits() -> None:
    command = [sys.executable, "-c", CHECK]
    lagging, count = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.split("\n")[
        :2
    ]
    assert not lagging, "run: make docs"
    assert int(count) >= 9
