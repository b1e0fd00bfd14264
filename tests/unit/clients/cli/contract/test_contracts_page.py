"""The commands of ``docs/contracts.md`` print what the page shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from support.command_line import run_verb

PAGE = (Path(__file__).parents[5] / "docs" / "contracts.md").read_text("utf-8")


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    parts = re.findall(
        r"^```(?:json|yaml) file=(\S+)\n(.*?)^```$|^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
    )
    assert len(parts) > 5
    for name, text, console in parts:
        if name:
            (tmp_path / name).write_text(text)
        for command, expected in re.findall(r"^\$ ([^\n]*)\n((?:[^$].*\n)*)", console, re.MULTILINE):
            if command.startswith("contractlog "):
                ran = run_verb(command.split()[1:], environment={"NO_COLOR": "1"}, folder=tmp_path)
                assert ran.stdout + re.sub(r"\d+ changes between .*\n", "", ran.stderr) == expected, command
            else:
                subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
