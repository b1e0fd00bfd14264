"""Histories with new seeds on both databases: ``python -m histories --seconds 3600``."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from histories.cluster import Forge, forging
from histories.history import Setting, Verdict, run
from support.postgres import run_server, temporary_database

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> int:
    """Run histories; the exit code is 1 when one of them is wrong, or proves nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3_600)
    parser.add_argument("--seed", type=int, help="of the first history (default: any)")
    arguments = parser.parse_args()
    seed = Random().randrange(1_000_000) if arguments.seed is None else arguments.seed  # noqa: S311 - any will do
    until, failed, total = time.monotonic() + arguments.seconds, 0, 0
    with run_server() as server, forging() as forge:
        while time.monotonic() < until:
            verdict = _one(seed + total, server if total % 2 else "", forge)
            total += 1
            failed += bool(verdict.violations or verdict.too_tame)
            print(verdict, f"  too little of: {verdict.too_tame}" if verdict.too_tame else "", flush=True)  # noqa: T201
    print(f"{total} histories, {failed} failed")  # noqa: T201
    return min(failed, 1)


def _one(seed: int, server: str, forge: Forge) -> Verdict:
    with tempfile.TemporaryDirectory() as folder, _database(server, folder) as url:
        return run(seed, Setting(url, Path(folder), nodes=3 if server else 1), forge)


@contextmanager
def _database(server: str, folder: str) -> Iterator[str]:
    if not server:
        yield f"sqlite:///{folder}/registry.db"
        return
    with temporary_database(server) as url:
        yield url


if __name__ == "__main__":
    sys.exit(main())
