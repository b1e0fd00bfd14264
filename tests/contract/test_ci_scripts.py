"""Scripts for CI run no code of the repository that they check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from support.deadlines import WAIT_SECONDS
from support.source_tree import ROOT

INTEGRATIONS: Final = ROOT / "integrations"
PYTHON: Final = re.compile(r"(?:^|[\s;&|(])python[\d.]*[ \t]+(.*)")  #: a call of Python, with its arguments


def list_lines(value: Any) -> list[str]:
    """Return the lines of all texts in a document."""
    if isinstance(value, str):
        return value.splitlines()
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [line for member in members for line in list_lines(member)]


@pytest.mark.parametrize("path", ["github/action.yml", "gitlab/contractlog.gitlab-ci.yml"])
def test_python_imports_nothing_from_the_working_directory(path: str) -> None:
    lines = list_lines(yaml.safe_load((INTEGRATIONS / path).read_text("utf-8")))
    calls = [call[1] for call in map(PYTHON.search, lines) if call and not call.string.lstrip().startswith("#")]
    assert [call for call in calls if not call.startswith("-I ")] == []
    assert bool(calls) is path.startswith("github")  # the GitLab job needs none


def test_an_isolated_python_makes_the_environment(tmp_path: Path) -> None:
    for name in ("venv", "logging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('code of the pull request')")
    command = [sys.executable, "-I", "-m", "venv", "--without-pip", "made"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=WAIT_SECONDS)
    assert (tmp_path / "made" / "pyvenv.cfg").is_file()
