"""Rounds, figures and ratios, shared by all parts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from load import Measured


def rounds(runs: dict[str, Callable[[], Measured]], count: int) -> dict[str, list[Measured]]:
    """Run every variant once per round, one after another."""
    found: dict[str, list[Measured]] = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            found[name].append(run())
    return found


def told(name: str, measured: list[Measured]) -> Measured:
    """Print the median round and return it."""
    middle = sorted(measured, key=lambda one: one.microseconds)[len(measured) // 2]
    print(f"  {name:44} {middle}", flush=True)
    return middle


missed: list[str] = []  #: goals that were missed in this run


def verdict(name: str, ratio: float, goal: float, *, at_most: bool = False) -> None:
    """Print a ratio beside its goal."""
    reached = ratio <= goal if at_most else ratio >= goal
    if not reached:
        missed.append(name)
    word = "at most" if at_most else "at least"
    print(
        f"  {'-> ' + name:44} {ratio:8.2f}  goal {word} {goal}  {'reached' if reached else 'MISSED'}"
        f"  (load of the machine {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def resident(pid: int) -> int:
    """Return the resident memory of a process, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
