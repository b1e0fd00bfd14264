"""The page "Manage your schemas as code": each command runs in order and prints what the page shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from support.deadlines import WAIT_SECONDS
from support.registry import serve_in_thread
from support.schema_repository import command_environment
from support.source_tree import ROOT

pytestmark = pytest.mark.e2e

PAGE: Final = (ROOT / "docs" / "schemas-as-code.md").read_text("utf-8")
TUTORIAL, REFERENCE = PAGE.split("\n## Pull\n")
ADDRESS: Final = "http://127.0.0.1:8081"
BLOCK: Final = re.compile(r"^```(sh|console|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND: Final = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
#: The only commands that end with exit code 1: a change that is rejected.
REJECTED: Final = {"contractlog check schemas/ --against git:main --quiet"}


@dataclass
class Shell:
    """A shell whose folder and variables last from one command to the next."""

    folder: Path
    url: str

    def __post_init__(self) -> None:
        self._variables = self.folder / "variables"
        self._variables.write_text(f"cd {self.folder}\n")

    def run(self, script: str, code: int = 0, *, input_text: str | None = None) -> str:
        """Run a script, and return what it prints on both streams."""
        restore, save = f'. "{self._variables}"', f'{{ export -p; echo "cd \'$PWD\'"; }} >"{self._variables}"'
        around = f"{restore}; {{ {script}\n}} 2>&1; code=$?; {save}; exit $code"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-c", around],
            input=input_text,
            env=command_environment(),
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
        assert done.returncode == code, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout.replace(self.url, ADDRESS)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell beside a copy of the examples, and a registry at the address of the page."""
    folder = tmp_path_factory.mktemp("page")
    with serve_in_thread(f"sqlite:///{folder / 'registry.db'}") as url:
        shutil.copytree(ROOT / "examples" / "schema_repository", folder / "examples" / "schema_repository")
        yield Shell(folder, url)


@pytest.fixture(scope="module")
def after_tutorial(shell: Shell) -> Shell:
    """The shell after the commands of the first ten minutes, each of which prints what the page shows."""
    kinds = []
    for kind, text in BLOCK.findall(TUTORIAL):
        kinds.append(kind)
        if kind == "sh":
            shell.run(text.replace(ADDRESS, shell.url))
        elif kind == "diff":
            shell.run("git apply -p0", input_text=text)
        else:
            for command, expected in COMMAND.findall(text):
                printed = shell.run(command, code=1 if command in REJECTED else 0)
                assert matches(printed, expected), f"{command}\n{printed}"
    assert (kinds.count("console"), kinds.count("diff")) == (7, 2)
    return shell


def matches(printed: str, expected: str) -> bool:
    """Compare; a line with an ellipsis stands for any lines."""
    pattern = "".join("(?:.*\n)*" if line == "…" else re.escape(f"{line}\n") for line in expected.splitlines())
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.usefixtures("after_tutorial")
def test_the_first_ten_minutes_go_as_the_page_shows() -> None:
    """The fixture compares each command; the tests may run in different processes."""


def test_the_commands_of_the_reference_run_in_the_same_repository(after_tutorial: Shell) -> None:
    after_tutorial.run("git tag v1.2 main~; mkdir ../released; cp -r schemas ../released")
    scripts = [text for kind, text in BLOCK.findall(REFERENCE) if kind == "sh" and "ccompat" not in text]
    assert len(scripts) >= 5
    for script in scripts:
        after_tutorial.run(script)
    copied = after_tutorial.run("cat .contractlog/manifest.schema.json")
    assert json.loads(copied)["title"] == "contractlog.toml"
    after_tutorial.run("contractlog check schemas/ --fail-on warning")


def test_the_page_lists_the_files_of_the_example() -> None:
    """Twelve of them, and one lint run has neither an error nor a warning."""
    tree = re.search(r"^```text\nshop/\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
    assert tree is not None
    listed = re.findall(r"^    (\S+\.(?:avsc|json))\b", tree[1], re.MULTILINE)
    folder = ROOT / "examples" / "schema_repository" / "schemas"
    assert sorted(listed) == sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*"))
    assert len(listed) == 12
