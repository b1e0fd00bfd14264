"""Time of a process's first record, with contractlog's serializers and those of ``confluent_kafka``.

Each measurement runs in a new process.

    python benchmarks/serdes/first_record.py [--check] [--processes 15]

The time starts with a running interpreter and ends with the first record. It includes imports, client, serializer,
registry and plan. ``--check`` exits with 1 if ours takes more processor time than the reference.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parent)]

from record_shapes import RECORD_SHAPES
from registry_server import run_registry

LIBRARIES: Final = ("ours", "theirs")
DIRECTIONS: Final = ("write", "read")
REQUIRED_RATIO: Final = 1.0  #: of theirs / ours, in processor time
COLUMNS: Final = ("imports", "record", "together", "clock")


def run_child(library: str, direction: str, url: str, frame: str) -> dict[str, Any]:
    """Write or read one record, and return the times."""
    shape = RECORD_SHAPES["realistic"]
    value, schema = shape.create_values(1)[0], json.dumps(shape.schema)
    clock_readings = [_read_clocks()]
    import httpx2  # noqa: F401 -- both libraries need it

    if library == "ours":
        from contractlog.clients import Registry
        from contractlog.serdes import MessageField, SerializationContext
        from contractlog.serdes.avro import AvroDeserializer, AvroSerializer

        clock_readings.append(_read_clocks())
        client: Any = Registry(url)
        call: Any = AvroSerializer(client, schema) if direction == "write" else AvroDeserializer(client)
        context: Any = SerializationContext("first", MessageField.VALUE)
    else:
        from confluent_kafka.schema_registry import SchemaRegistryClient
        from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
        from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
        from confluent_kafka.serialization import MessageField as TheirField
        from confluent_kafka.serialization import SerializationContext as TheirContext

        clock_readings.append(_read_clocks())
        client = SchemaRegistryClient({"url": url})
        call = TheirSerializer(client, schema) if direction == "write" else TheirDeserializer(client)
        context = TheirContext("first", TheirField.VALUE)
    result = call(value if direction == "write" else bytes.fromhex(frame), context)
    clock_readings.append(_read_clocks())
    assert direction == "write" or result == value
    (wall, cpu), (_, cpu_then), (wall_now, cpu_now) = clock_readings
    durations = (cpu_then - cpu, cpu_now - cpu_then, cpu_now - cpu, wall_now - wall)
    durations_by_name: dict[str, Any] = dict(zip(COLUMNS, durations, strict=True))
    return durations_by_name | {"frame": result.hex()} if direction == "write" else durations_by_name


def _read_clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def run_process(library: str, direction: str, url: str, frame: str) -> dict[str, Any]:
    """Run one process."""
    command = [sys.executable, __file__, "--child", library, direction, url, frame]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    durations_by_name: dict[str, Any] = json.loads(result.stdout)
    return durations_by_name


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=15, help="of each kind")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(run_child(*arguments.child)))
        return 0
    all_reached = True
    print(f"first record of a process, realistic record; milliseconds, median of {arguments.processes} processes each")
    print(f"{'direction':10} {'maker':8} {'imports':>8} {'record':>8} {'together':>9} {'clock':>8}")
    with run_registry() as url:
        frame = run_process("theirs", "write", url, "-")["frame"]
        for direction in DIRECTIONS:
            runs: dict[str, list[dict[str, Any]]] = {library: [] for library in LIBRARIES}
            for _ in range(arguments.processes):
                for library in LIBRARIES:
                    runs[library].append(run_process(library, direction, url, frame))
            for library in LIBRARIES:
                row = [statistics.median(run[name] for run in runs[library]) * 1e3 for name in COLUMNS]
                print(f"{direction:10} {library:8} {row[0]:8.1f} {row[1]:8.1f} {row[2]:9.1f} {row[3]:8.1f}")
            for name in ("record", "together", "clock"):
                pairs = zip(runs["ours"], runs["theirs"], strict=True)
                ratio = statistics.median(theirs[name] / ours[name] for ours, theirs in pairs)
                verdict = "ok" if ratio >= REQUIRED_RATIO else "BELOW"
                print(f"{direction:10} theirs / ours, {name:9} {ratio:6.2f}  floor {REQUIRED_RATIO:.1f}  {verdict}")
                all_reached &= name == "clock" or ratio >= REQUIRED_RATIO
    return 1 if arguments.check and not all_reached else 0


if __name__ == "__main__":
    sys.exit(main())
