"""The commands of ``docs/command-line.md`` print what the page shows; no operation is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from contractlog.clients import Registry
from contractlog.clients.cli.verbs import VERBS, Section

from support.operations import LINE, NOTE, order
from support.registry import serve_in_thread

PAGE = (Path(__file__).parent.parent.parent / "docs" / "command-line.md").read_text("utf-8")
ADDRESS = "http://127.0.0.1:8081"
#: What another run prints otherwise: times, and hashes of entries with times.
CHANGING = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d+ \w+ \d{4} \d\d:\d\d UTC|\b[0-9a-f]{64}\b")


def shown() -> list[tuple[str, str]]:
    """Return each command of the page, and the output below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [pair for block in blocks for pair in re.findall(r"^\$ ([^\n]*)\n((?:[^$].*\n)*)", block, re.MULTILINE)]


def printed(command: str, url: str, folder: Path) -> str:
    """Return what a command prints on both streams, as a terminal shows it."""
    program = f"{sys.executable} -m contractlog.clients.cli.main"
    done = subprocess.run(
        ["bash", "-c", f"{command.replace('contractlog', program, 1)} 2>&1"],
        cwd=folder,
        env={**os.environ, "CONTRACTLOG_REGISTRY_URL": url, "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return CHANGING.sub("TIME", done.stdout.replace(url, ADDRESS).replace(program, "contractlog"))


def test_every_command_prints_what_the_page_shows(tmp_path: Path) -> None:
    for name, text in re.findall(r"^```json file=(\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url:
        with Registry(url) as registry:
            registry.register("orders-value", order())
            registry.register("orders-value", order(NOTE))
            registry.register("lines-value", LINE)
        for command, expected in shown():
            assert printed(command, url, tmp_path) == CHANGING.sub("TIME", expected), command


def test_the_page_has_an_example_of_every_command_of_a_registry() -> None:
    named = {command.split()[1] for command, _ in shown()}
    assert named == {name for name, verb in VERBS.items() if verb.section is Section.REGISTRY} | {"diff"}
