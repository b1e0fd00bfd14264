"""The command line in this process: the same code as the program, without the start of another Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest

from contractlog.clients.cli.main import main


def run_verb(
    arguments: Sequence[str],
    *,
    environment: Mapping[str, str],
    whole: bool = False,
    folder: Path | None = None,
    stdin: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run the command as a process would, with further environment variables, or these alone as a whole."""
    on_hang_up = signal.getsignal(signal.SIGHUP)  # services ignore it
    written = BytesIO()
    try:
        with (
            chdir(folder) if folder else nullcontext(),
            pytest.MonkeyPatch.context() as patch,
            redirect_stdout(TextIOWrapper(written, write_through=True)) as stdout,
            redirect_stderr(StringIO()) as stderr,
        ):
            for name in os.environ.keys() - environment.keys() if whole else ():
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin.encode())))
            code = main(arguments)
            stdout.detach()
    finally:
        signal.signal(signal.SIGHUP, on_hang_up)
    return subprocess.CompletedProcess(arguments, code, written.getvalue().decode(), stderr.getvalue())
