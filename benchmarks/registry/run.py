"""Reads, registrations and start of the registry, each compared with its alternative in one run.

    python benchmarks/registry/run.py [--seconds 4] [--rounds 3] [--schemas 1000000]
                                      [--only reads,latest,repeated,storm,registration,start,apicurio] [--check]
                                      [--out FILE --label before|after]

For reads, the server has core 0 and the load core 1; otherwise the servers have all cores. Ratios of reads compare
processor time per request, which varies less than wall-clock time on shared cores. PostgreSQL is started in a folder
of its own; ``--out`` stores the medians in a file, from which ``make docs`` writes ``docs/performance.md``.
Apicurio Registry is downloaded from Maven Central (150 MB) the first time, and only if it is selected.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parents[2] / name) for name in ("tests", "examples"))]

from repeated_requests import compare_repeated_registrations, compare_storm

from contractlog.registry.database import upgrade

from apicurio_comparison import compare_with_apicurio
from reads import compare_latest, compare_reads_by_id
from registrations import compare_registrations
from report import missed_goals, part, store_figures
from servers import use_cores
from startup import compare_startup
from support.postgres import create_server

DURABILITY = {"sqlite": "SQLite: WAL, synchronous=FULL", "postgresql": "PostgreSQL: fsync=on, synchronous_commit=on"}

#: Parts that are measured on each database.
EACH_DATABASE = {
    "latest": compare_latest,
    "repeated": compare_repeated_registrations,
    "storm": compare_storm,
    "registration": compare_registrations,
}


@contextmanager
def databases(*, postgresql: bool = True) -> Iterator[dict[str, str]]:
    """Make an empty database of each kind, with full durability."""
    with tempfile.TemporaryDirectory() as folder:
        urls = {"sqlite": f"sqlite:///{folder}/bench.db"}
        if not postgresql:
            yield urls
            return
        with create_server(durable=True) as server:
            server.start()
            upgrade(server.url)
            yield urls | {"postgresql": server.url}


def main() -> int:
    """Run the selected parts; with ``--check``, return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description="the registry compared with its alternatives")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="reads,latest,repeated,storm,registration,start")
    parser.add_argument("--schemas", type=int, default=1_000_000)
    parser.add_argument("--database", choices=tuple(DURABILITY), help="of `latest` and `registration` (default: each)")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument("--out", type=Path, help="JSON file with the medians; those of other labels and parts stay")
    parser.add_argument("--label", default="after", help="what was measured, for --out")
    arguments = parser.parse_args()
    wanted = set(arguments.only.split(","))
    timing = (arguments.seconds, arguments.rounds)
    both = bool(wanted & set(EACH_DATABASE)) and arguments.database != "sqlite"
    with databases(postgresql=both) as urls, use_cores({1 % (os.cpu_count() or 1)}):
        kinds = {kind: url for kind, url in urls.items() if arguments.database in {None, kind}}
        if "reads" in wanted:
            part.name = "read by id"
            compare_reads_by_id(urls["sqlite"], DURABILITY["sqlite"], *timing)
        for name, compare in EACH_DATABASE.items():
            for kind, url in kinds.items():
                if name in wanted:
                    part.name = f"{name}, {kind}"
                    compare(kind, url, DURABILITY[kind], *timing)
        if "start" in wanted:
            with tempfile.TemporaryDirectory() as folder:
                compare_startup(folder, DURABILITY["sqlite"], arguments.schemas, *timing)
        if "apicurio" in wanted:
            compare_with_apicurio(urls["sqlite"], DURABILITY["sqlite"], *timing)
    if arguments.out is not None:
        store_figures(arguments.out, arguments.label)
    return 1 if arguments.check and missed_goals else 0


if __name__ == "__main__":
    sys.exit(main())
