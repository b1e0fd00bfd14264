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

from malformed_records import MalformedResults, call_with_malformed_records
from record_shapes import RECORD_SHAPES
from registry_server import run_registry
from serializer_pairs import DIRECTIONS, Pair, connect_clients
from timer import TimingResult, time_functions

REQUIRED_RATIOS: Final = {
    "avro write": 2.0,
    "avro read": 4.0,
    "avro evolved": 6.0,
    "json write": 30.0,
    "json read": 30.0,
}
TARGET_RATIOS: Final = {"avro write": 2.2, "avro read": 4.3, "avro evolved": 7.0, "json write": 40.0, "json read": 40.0}


ARRAYS: Final = frozenset({"arrays", "numbers", "texts", "items"})
WIDE: Final = frozenset({"wide", "nullable"})


def get_required_ratio(shape: str, direction: str) -> float:
    """Return the required ratio: for the realistic record a floor, for others only not to be slower."""
    return REQUIRED_RATIOS[direction] if shape == "realistic" else 1.0


def get_target_ratio(shape: str, direction: str) -> float | None:
    """Return the target ratio, or None if there is none."""
    if shape == "realistic":
        return TARGET_RATIOS[direction]
    if direction.startswith("json"):
        return 40.0 if shape == "nested" or shape in WIDE else None
    return 2.5 if shape in ARRAYS else 3.0 if shape in WIDE else None


def format_row(shape: str, direction: str, timing: TimingResult, malformed: MalformedResults | None) -> str:
    """Return a row of the table."""
    required, target = get_required_ratio(shape, direction), get_target_ratio(shape, direction)
    target_text = "    -" if target is None else f"{target:5.1f}"
    row = f"{shape:10} {direction:13} {timing.ours:8.2f} {timing.theirs:8.2f} {timing.ratio:7.2f} {timing.lowest:7.2f}"
    verdict = "BELOW" if timing.ratio < required else "short" if target is not None and timing.ratio < target else "ok"
    return f"{row} {required:6.1f} {target_text} {verdict:5}" + ("" if malformed is None else f"  {malformed}")


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--records", type=int, default=200, help="different records of each shape")
    parser.add_argument("--mutants", type=int, default=10_000, help="broken records that each timed function gets")
    parser.add_argument("--shapes", default=",".join(RECORD_SHAPES))
    parser.add_argument("--only", default=",".join(DIRECTIONS), help="directions")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a required ratio is missed")
    arguments = parser.parse_args()
    print(
        f"confluent-kafka {version('confluent-kafka')}, fastavro {version('fastavro')}, "
        f"jsonschema {version('jsonschema')}, Python {platform.python_version()}; "
        f"{arguments.records} records, median of {arguments.rounds} rounds; microseconds of processor time per record"
    )
    print(f"{'shape':10} {'direction':13} {'ours':>8} {'theirs':>8} {'ratio':>7} {'lowest':>7} {'floor':>6} {'aim':>5}")
    all_reached = True
    with run_registry() as url, connect_clients(url) as pair_factory:
        for name in arguments.shapes.split(","):
            for direction in arguments.only.split(","):
                pair: Pair = pair_factory.create_pair(direction, RECORD_SHAPES[name], arguments.records)
                timing = time_functions(pair.ours, pair.theirs, pair.arguments, arguments.rounds)
                malformed = (
                    call_with_malformed_records(pair.ours, pair.arguments, arguments.mutants, pair.read_back)
                    if arguments.mutants
                    else None
                )
                print(format_row(name, direction, timing, malformed), flush=True)
                all_reached &= timing.ratio >= get_required_ratio(name, direction) and (
                    malformed is None or malformed.is_passed
                )
    if not all_reached:
        print("a required ratio was missed, or a broken record did harm", file=sys.stderr)
    return 1 if arguments.check and not all_reached else 0


if __name__ == "__main__":
    sys.exit(main())
