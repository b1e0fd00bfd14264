"""The commands of ``docs/command-line.md`` print what the page shows; no operation is missing."""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from contractlog.clients import Registry
from contractlog.clients.cli.main import main
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


def printed(command: str, url: str) -> str:
    """Return what a command prints on both streams, as a terminal shows it."""
    name, *arguments = shlex.split(command)
    assert name == "contractlog"
    terminal = StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        main(arguments)
    return CHANGING.sub("TIME", terminal.getvalue().replace(url, ADDRESS))


def test_every_command_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"^```json file=(\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url:
        with Registry(url) as registry:
            registry.register("orders-value", order())
            registry.register("orders-value", order(NOTE))
            registry.register("lines-value", LINE)
        monkeypatch.setenv("CONTRACTLOG_REGISTRY_URL", url)
        for command, expected in shown():
            assert printed(command, url) == CHANGING.sub("TIME", expected), command


def test_the_page_has_an_example_of_every_command_of_a_registry() -> None:
    named = {command.split()[1] for command, _ in shown()}
    assert named == {name for name, verb in VERBS.items() if verb.section is Section.REGISTRY} | {"diff"}
