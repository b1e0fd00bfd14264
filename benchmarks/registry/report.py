"""Rounds, medians and goals, as used by all comparisons."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from load_generator import LoadResult


def run_rounds(runs: dict[str, Callable[[], LoadResult]], count: int) -> dict[str, list[LoadResult]]:
    """Run every variant once per round, one after another."""
    results: dict[str, list[LoadResult]] = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            results[name].append(run())
    return results


def print_median(name: str, results: list[LoadResult]) -> LoadResult:
    """Print the median round and return it."""
    median_result = sorted(results, key=lambda result: result.microseconds_per_request)[len(results) // 2]
    print(f"  {name:44} {median_result}", flush=True)
    return median_result


missed_goals: list[str] = []  #: goals that were missed in this run


def print_ratio(name: str, ratio: float, goal: float, *, at_most: bool = False) -> None:
    """Print a ratio and its goal; record a missed goal."""
    is_reached = ratio <= goal if at_most else ratio >= goal
    if not is_reached:
        missed_goals.append(name)
    bound = "at most" if at_most else "at least"
    print(
        f"  {'-> ' + name:44} {ratio:8.2f}  goal {bound} {goal}  {'reached' if is_reached else 'MISSED'}"
        f"  (load of the machine {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def read_resident_memory(pid: int) -> int:
    """Return the resident memory of a process, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20
