"""Golden files: approved outputs in the repository, which are compared byte for byte."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

REWRITE: Final = "REWRITE_GOLDEN"  #: an environment variable; CONTRIBUTING.md describes it


def require_golden(folder: Path, outputs: Mapping[str, str]) -> None:
    """Compare outputs with the files of a folder, or rewrite the folder if REWRITE_GOLDEN=1 is set.

    Args:
        folder: the folder of the golden files, with nothing else in it.
        outputs: the text of each file, by its path below the folder.
    """
    if os.environ.get(REWRITE) == "1":
        if os.environ.get("CI"):
            pytest.fail(f"{REWRITE} is not allowed in CI: golden files are read by a person before they are committed")
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in outputs.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
    golden = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    advice = f"to accept the outputs, run the test with {REWRITE}=1 and read the difference"
    assert sorted(outputs) == sorted(golden), f"{folder} has other files; {advice}"
    for name, path in golden.items():
        assert outputs[name] == path.read_bytes().decode(), f"{path} differs; {advice}"
