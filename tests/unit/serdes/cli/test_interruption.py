"""Interruptions end what waits for input."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from contractlog.serdes.cli.interruption import Interruption

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
