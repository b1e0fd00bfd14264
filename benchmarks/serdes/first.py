"""The first record of a process, with our serializers and those of ``confluent_kafka``.

Each measurement runs in a process of its own.

    python benchmarks/serdes/first.py [--check] [--processes 15]

The time begins with a running interpreter and ends with the first record: imports, client, serializer, registry,
plan. ``--check`` exits with 1 if ours takes more processor time than the reference.
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

from served import served
from shapes import SHAPES

MAKERS: Final = ("ours", "theirs")
DIRECTIONS: Final = ("write", "read")
FLOOR: Final = 1.0  #: of theirs / ours, in processor time
COLUMNS: Final = ("imports", "record", "together", "clock")


def child(maker: str, direction: str, url: str, frame: str) -> dict[str, Any]:
    """Write or read one record, and return the times."""
    shape = SHAPES["realistic"]
    value, schema = shape.values(1)[0], json.dumps(shape.schema)
    marks = [_mark()]
    import httpx2  # noqa: F401 -- both need it; ours would import it with the first client, and that is no work on a record

    if maker == "ours":
        from contractlog.clients import Registry
        from contractlog.serdes import MessageField, SerializationContext
        from contractlog.serdes.avro import AvroDeserializer, AvroSerializer

        marks.append(_mark())
        client: Any = Registry(url)
        call: Any = AvroSerializer(client, schema) if direction == "write" else AvroDeserializer(client)
        context: Any = SerializationContext("first", MessageField.VALUE)
    else:
        from confluent_kafka.schema_registry import SchemaRegistryClient
        from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
        from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
        from confluent_kafka.serialization import MessageField as TheirField
        from confluent_kafka.serialization import SerializationContext as TheirContext

        marks.append(_mark())
        client = SchemaRegistryClient({"url": url})
        call = TheirSerializer(client, schema) if direction == "write" else TheirDeserializer(client)
        context = TheirContext("first", TheirField.VALUE)
    made = call(value if direction == "write" else bytes.fromhex(frame), context)
    marks.append(_mark())
    assert direction == "write" or made == value
    (wall, cpu), (_, cpu_then), (wall_now, cpu_now) = marks
    took = (cpu_then - cpu, cpu_now - cpu_then, cpu_now - cpu, wall_now - wall)
    found: dict[str, Any] = dict(zip(COLUMNS, took, strict=True))
    return found | {"frame": made.hex()} if direction == "write" else found


def _mark() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def measured(maker: str, direction: str, url: str, frame: str) -> dict[str, Any]:
    """Run one process."""
    command = [sys.executable, __file__, "--child", maker, direction, url, frame]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=15, help="of each kind")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(*arguments.child)))
        return 0
    good = True
    print(f"first record of a process, realistic record; milliseconds, median of {arguments.processes} processes each")
    print(f"{'direction':10} {'maker':8} {'imports':>8} {'record':>8} {'together':>9} {'clock':>8}")
    with served() as url:
        frame = measured("theirs", "write", url, "-")["frame"]
        for direction in DIRECTIONS:
            runs: dict[str, list[dict[str, Any]]] = {maker: [] for maker in MAKERS}
            for _ in range(arguments.processes):
                for maker in MAKERS:
                    runs[maker].append(measured(maker, direction, url, frame))
            for maker in MAKERS:
                row = [statistics.median(run[name] for run in runs[maker]) * 1e3 for name in COLUMNS]
                print(f"{direction:10} {maker:8} {row[0]:8.1f} {row[1]:8.1f} {row[2]:9.1f} {row[3]:8.1f}")
            for name in ("record", "together", "clock"):
                pairs = zip(runs["ours"], runs["theirs"], strict=True)
                ratio = statistics.median(theirs[name] / ours[name] for ours, theirs in pairs)
                verdict = "ok" if ratio >= FLOOR else "BELOW"
                print(f"{direction:10} theirs / ours, {name:9} {ratio:6.2f}  floor {FLOOR:.1f}  {verdict}")
                good &= name == "clock" or ratio >= FLOOR
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
