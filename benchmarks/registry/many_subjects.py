"""Requests of a registry with very many subjects, compared with those of an almost empty one.

    python benchmarks/registry/many_subjects.py [--subjects 100000] [--check]

Ten schemas per subject, on SQLite; processor time of the process per request, in process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from long_history import LocalApp

from bulk_insert import VERSIONS, insert_schemas
from report import figures, missed_goals, part, print_ratio, store_figures

GOAL_LIST_SECONDS, GOAL_RATIO = 0.5, 1.2
REQUESTS = 200
SMALL = REQUESTS  #: subjects of the registry to compare with: each is read once, so that no response is in memory


async def _measure(app: LocalApp, subjects: int) -> dict[str, float]:
    """Return the milliseconds of processor time of each kind of request."""
    fields = [{"name": "a", "type": "long"}]

    def new_schema(number: int) -> dict[str, Any]:
        return {"schema": json.dumps({"type": "record", "name": f"New{number}", "fields": fields})}

    for number in range(20):  # until statements are compiled
        await app.send("POST", f"/subjects/warm-{number}/versions", new_schema(REQUESTS + number))
        await app.send("GET", f"/subjects/subject-{number % SMALL + 1}-value/versions/latest")
    step = max(1, subjects // REQUESTS)
    return {
        "latest": statistics.median(
            [
                await app.send("GET", f"/subjects/subject-{number * step % subjects + 1}-value/versions/latest")
                for number in range(REQUESTS)
            ]
        ),
        "registration": statistics.median(
            [
                await app.send("POST", f"/subjects/new-{number}/versions", new_schema(number))
                for number in range(REQUESTS)
            ]
        ),
        "list": await app.send("GET", "/subjects"),
    }


def _measure_registry(subjects: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/bench.db"
        insert_schemas(url, subjects * VERSIONS)
        app = LocalApp(url)
        try:
            return asyncio.run(_measure(app, subjects))
        finally:
            app.close()


def main() -> int:
    """Measure both sizes; with ``--check``, return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description="a registry with many subjects")
    parser.add_argument("--subjects", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="JSON file with the figures, as for run.py")
    parser.add_argument("--label", default="after", help="what was measured, for --out")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    arguments = parser.parse_args()
    part.name = f"{arguments.subjects:,} subjects"
    small, large = _measure_registry(SMALL), _measure_registry(arguments.subjects)
    print(f"\n{arguments.subjects:,} subjects with {VERSIONS} schemas each, on SQLite; {SMALL} subjects for comparison")
    for name in ("latest", "registration"):
        print(f"  {name}: {small[name]:.2f} ms of processor time with few subjects, {large[name]:.2f} with many")
        print_ratio(name, large[name] / small[name], GOAL_RATIO, at_most=True)
    print_ratio("GET /subjects, seconds", large["list"] / 1_000, GOAL_LIST_SECONDS, at_most=True)
    figures.extend({"part": part.name, "name": name, "cpu_us": round(large[name] * 1_000)} for name in large)
    if arguments.out is not None:
        store_figures(arguments.out, arguments.label)
    return 1 if arguments.check and missed_goals else 0


if __name__ == "__main__":
    sys.exit(main())
