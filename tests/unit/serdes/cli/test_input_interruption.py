"""Interruptions end what waits for input."""

from __future__ import annotations

import io
import os
import signal
import threading
from pathlib import Path

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.serdes.cli import input_interruption as interruption_module
from contractlog.serdes.cli.input_interruption import Interruption, read_lines

from support.deadlines import hang_guard


def test_opening_a_pipe_without_a_writer_can_be_interrupted(tmp_path: Path) -> None:
    pipe = tmp_path / "records.jsonl"
    os.mkfifo(pipe)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    with Interruption() as interruption:
        timer.start()
        with hang_guard():
            assert interruption.wait(pipe.open) is None
        timer.join()
        assert interruption.happened


def test_a_line_has_a_maximum_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interruption_module, "_MAX_LINE_CHARACTERS", 4)
    with Interruption() as interruption:
        lines = read_lines(io.StringIO("123\n12345\n"), interruption)
        assert next(lines) == (1, "123\n")
        with pytest.raises(UsageError, match="line 2 has more than 4 characters"):
            next(lines)
