"""Avro and JSON serializers compared with ``confluent_kafka``'s: processor time per record.

Both run in one process and through their public calls.

    python benchmarks/serdes/run.py [--check] [--rounds 21] [--records 200] [--mutants 10000]
                                    [--shapes small,realistic] [--only "avro read,json write"]

Both sides use their defaults and one registry. Before anything is timed, both have to agree on every record; after it,
the timed functions get malformed records. ``--check`` exits with 1 if a required ratio is missed; ``short`` marks a
ratio that meets its requirement but not its target.
"""

from __future__ import annotations

import argparse
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Final

sys.path[:0] = [str(Path(__file__).parent)]

from contenders import DIRECTIONS, Pair, connected
from mutants import Fed, feed
from served import served
from shapes import SHAPES
from timing import Timed, timed

FLOORS: Final = {"avro write": 2.0, "avro read": 4.0, "avro evolved": 6.0, "json write": 30.0, "json read": 30.0}
AIMS: Final = {"avro write": 2.2, "avro read": 4.3, "avro evolved": 7.0, "json write": 40.0, "json read": 40.0}


ARRAYS: Final = frozenset({"arrays", "numbers", "texts", "items"})
WIDE: Final = frozenset({"wide", "nullable"})


def floor(shape: str, direction: str) -> float:
    """Return the required ratio: for the realistic record a floor, for others only not to be slower."""
    return FLOORS[direction] if shape == "realistic" else 1.0


def aim(shape: str, direction: str) -> float | None:
    """Return the target ratio, or None if there is none."""
    if shape == "realistic":
        return AIMS[direction]
    if direction.startswith("json"):
        return 40.0 if shape == "nested" or shape in WIDE else None
    return 2.5 if shape in ARRAYS else 3.0 if shape in WIDE else None


def line(shape: str, direction: str, found: Timed, fed: Fed | None) -> str:
    """Return a row of the table."""
    required, aimed = floor(shape, direction), aim(shape, direction)
    shown = "    -" if aimed is None else f"{aimed:5.1f}"
    row = f"{shape:10} {direction:13} {found.ours:8.2f} {found.theirs:8.2f} {found.ratio:7.2f} {found.lowest:7.2f}"
    verdict = "BELOW" if found.ratio < required else "short" if aimed is not None and found.ratio < aimed else "ok"
    return f"{row} {required:6.1f} {shown} {verdict:5}" + ("" if fed is None else f"  {fed}")


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--records", type=int, default=200, help="different records of each shape")
    parser.add_argument("--mutants", type=int, default=10_000, help="broken records that each timed function gets")
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--only", default=",".join(DIRECTIONS), help="directions")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a required ratio is missed")
    arguments = parser.parse_args()
    print(
        f"confluent-kafka {version('confluent-kafka')}, fastavro {version('fastavro')}, "
        f"jsonschema {version('jsonschema')}, Python {platform.python_version()}; "
        f"{arguments.records} records, median of {arguments.rounds} rounds; microseconds of processor time per record"
    )
    print(f"{'shape':10} {'direction':13} {'ours':>8} {'theirs':>8} {'ratio':>7} {'lowest':>7} {'floor':>6} {'aim':>5}")
    good = True
    with served() as url, connected(url) as makers:
        for name in arguments.shapes.split(","):
            for direction in arguments.only.split(","):
                pair: Pair = makers.pair(direction, SHAPES[name], arguments.records)
                found = timed(pair.ours, pair.theirs, pair.arguments, arguments.rounds)
                fed = feed(pair.ours, pair.arguments, arguments.mutants, pair.back) if arguments.mutants else None
                print(line(name, direction, found, fed), flush=True)
                good &= found.ratio >= floor(name, direction) and (fed is None or fed.passed)
    if not good:
        print("a required ratio was missed, or a broken record did harm", file=sys.stderr)
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
