"""Rounds, medians and goals, as used by all comparisons."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from load_generator import LoadResult


def run_rounds(runs: dict[str, Callable[[], LoadResult]], count: int) -> dict[str, list[LoadResult]]:
    """Run every variant once per round, one after another."""
    results: dict[str, list[LoadResult]] = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            results[name].append(run())
    return results


@dataclass
class _Part:
    name: str = ""


part = _Part()  #: the part that is being measured
figures: list[dict[str, Any]] = []  #: the medians of this run


def describe_run() -> dict[str, Any]:
    """Return what a run needs to be compared with another one."""
    packages = ("fastapi", "uvicorn", "uvloop", "httptools", "SQLAlchemy", "psycopg")
    return {
        "processor": next(
            (line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").open() if line.startswith("model name")),
            "",
        ),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[1], 1),
        "versions": {"Python": platform.python_version()} | {name: version(name) for name in packages},
    }


def store_figures(file: Path, label: str) -> None:
    """Store the medians under a label; those of parts that were not measured stay."""
    stored = json.loads(file.read_text()) if file.exists() else {}
    measured = {figure["part"] for figure in figures}
    others = [figure for figure in stored.get(label, {}).get("figures", ()) if figure["part"] not in measured]
    stored[label] = {"run": describe_run(), "figures": [*others, *figures]}
    file.write_text(json.dumps(stored, indent=1) + "\n")


def print_median(name: str, results: list[LoadResult]) -> LoadResult:
    """Print the median round and return it."""
    median_result = sorted(results, key=lambda result: result.microseconds_per_request)[len(results) // 2]
    print(f"  {name:44} {median_result}", flush=True)
    figures.append(
        {
            "part": part.name,
            "name": name,
            "per_second": round(median_result.requests_per_second),
            "cpu_us": round(median_result.microseconds_per_request),
            "p50_ms": round(median_result.percentile(0.5), 1),
            "p99_ms": round(median_result.percentile(0.99), 1),
        }
    )
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
