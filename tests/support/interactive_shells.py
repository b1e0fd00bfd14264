"""Completion in zsh, on a terminal, and in fish.

Each shell reads the script that the command prints; this process prints it once for all tests. The registry has more
time to respond than for users, because the machine may be busy. Tests that need a missing shell are skipped; in CI,
skipped tests fail.
"""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from support.command_line import run_verb
from support.deadlines import WAIT_SECONDS
from support.schema_repository import command_environment

__all__ = ["Complete", "fish", "zsh"]

#: Completes the last word of a line, with this registry; returns all words that the shell offers.
Complete = Callable[[str, str], list[str]]

#: TAB inserts all matches, and Control-X writes the words of the line to a file.
_ZSHRC: Final = r"""
autoload -Uz compinit && compinit -u -D
source ./.completion
insert-all-matches() { _main_complete; compstate[insert]=all; compstate[list]= }
zle -C insert-all-matches complete-word insert-all-matches
write-words() { print -rl -- "${(@Q)${(z)BUFFER}}" >written; mv written result; BUFFER= }
zle -N write-words
bindkey '^I' insert-all-matches '^X' write-words
: >ready
"""
_FISH: Final = 'source ./.completion; complete -C "$argv[1]"'


@cache
def _print_script(shell: str) -> str:
    """Return the script of a shell, in which the registry has more time to respond."""
    script = run_verb(["completion", shell], environment={}).stdout
    assert "--timeout 1 " in script
    return script.replace("--timeout 1 ", "--timeout 20 ")


@pytest.fixture
def zsh(tmp_path: Path) -> Complete:
    """Complete in an interactive zsh."""
    program = _find_shell("zsh")

    def complete(line: str, url: str) -> list[str]:
        for name in ("ready", "result"):
            (tmp_path / name).unlink(missing_ok=True)
        (tmp_path / ".zshrc").write_text(_ZSHRC)
        (tmp_path / ".completion").write_text(_print_script("zsh"))
        environment = command_environment(ZDOTDIR=str(tmp_path), TERM="dumb", CONTRACTLOG_REGISTRY_URL=url)
        terminal, inner = pty.openpty()
        with subprocess.Popen(
            [program, "-d", "-i"], stdin=inner, stdout=inner, stderr=inner,
            cwd=tmp_path, env=environment, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                os.close(inner)
                _await_file(terminal, tmp_path / "ready")
                os.write(terminal, f"{line}\t\x18".encode())
                _await_file(terminal, tmp_path / "result")
            finally:
                process.kill()
                os.close(terminal)
        typed = line.split()[: -1 if not line.endswith(" ") else None]
        return [word for word in (tmp_path / "result").read_text("utf-8").splitlines() if word][len(typed) :]

    return complete


@pytest.fixture
def fish(tmp_path: Path) -> Complete:
    """Complete in fish."""
    program = _find_shell("fish")

    def complete(line: str, url: str) -> list[str]:
        (tmp_path / ".completion").write_text(_print_script("fish"))
        environment = command_environment(HOME=str(tmp_path), CONTRACTLOG_REGISTRY_URL=url)
        done = subprocess.run(
            [program, "--no-config", "-c", _FISH, "--", line],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False,
        )  # fmt: skip
        assert done.stderr == ""
        return done.stdout.splitlines()

    return complete


def _find_shell(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no {name} on this machine; install the package `{name}`")
    return program


def _await_file(terminal: int, file: Path) -> None:
    """Read from the terminal, so that the shell can go on, until the shell has written a file."""
    deadline = time.monotonic() + WAIT_SECONDS
    printed = b""
    while not file.exists():
        assert time.monotonic() < deadline, printed.decode(errors="replace")
        if select.select([terminal], [], [], 0.02)[0]:
            with suppress(OSError):  # the shell has ended
                printed += os.read(terminal, 65_536)
