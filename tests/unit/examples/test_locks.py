from __future__ import annotations

import os
from pathlib import Path

from locks import holder, how_to_stop, locked


def test_who_holds_a_lock_is_told_and_how_to_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert holder(path) is None
    assert not path.exists()
    with locked(path):
        assert holder(path) == f"process {os.getpid()}"
    assert holder(path) is None
    assert how_to_stop("process 12") == "stop it with Ctrl-C where it runs or `kill 12`"
    assert how_to_stop("another process") == "stop it with Ctrl-C where it runs"
