from __future__ import annotations

import os
from pathlib import Path

from file_lock import find_holder, format_stop_instruction, lock_file


def test_the_holder_of_a_lock_is_named_with_a_stop_instruction(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert find_holder(path) is None
    assert not path.exists()
    with lock_file(path):
        assert find_holder(path) == f"process {os.getpid()}"
    assert find_holder(path) is None
    assert format_stop_instruction("process 12") == "stop it with Ctrl-C where it runs or `kill 12`"
    assert format_stop_instruction("another process") == "stop it with Ctrl-C where it runs"
