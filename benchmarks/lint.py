"""Time of ``contractlog lint`` for a folder of generated schema files.

Half of the files are Avro, half are JSON Schema. Each has 20 fields or properties, some of them with nested types, and
one or two findings. The goal is to lint 500 files in less than two seconds on two cores.

Measured on two cores with load 4: 1.38 s, of which 1.35 s are processor time; best of five: 1.04 s and 1.01 s.

python benchmarks/lint.py [--files 500] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

FIELD_COUNT = 20
COMMAND = [sys.executable, "-m", "contractlog.clients.cli.main", "lint"]


def create_avro_schema(number: int) -> dict[str, Any]:
    """Return a record with strings, instants, decimals, an enum and a nested record."""
    types: list[Any] = [
        "string",
        {"type": "long", "logicalType": "timestamp-millis"},
        {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2},
        ["null", "string"],
        {"type": "array", "items": "long"},
    ]
    fields: list[dict[str, Any]] = [
        {"name": f"field_{index}", "type": types[index % len(types)], "doc": "Explained in a sentence."}
        for index in range(FIELD_COUNT - 2)
    ]
    coordinates = [{"name": name, "type": "double", "doc": "Degrees."} for name in ("lat", "lon")]
    fields += [
        {"name": "place", "type": {"type": "record", "name": "Place", "doc": "A place.", "fields": coordinates}},
        {"name": "status", "type": {"type": "enum", "name": "Status", "doc": "State.", "symbols": ["UNKNOWN", "OPEN"]}},
    ]
    return {"type": "record", "name": f"Order{number}", "namespace": "shop", "doc": "An order.", "fields": fields}


def create_json_schema(number: int) -> dict[str, Any]:
    """Return the schema of an object with strings, instants, enums and a nested object."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": 40},
        {"type": "string", "format": "date-time"},
        {"type": "integer", "minimum": 0, "maximum": 9999},
        {"enum": ["open", "paid", "sent"]},
        {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]+$"}},
    ]
    properties: dict[str, Any] = {
        f"property_{index}": {**kinds[index % len(kinds)], "description": "Explained in a sentence."}
        for index in range(FIELD_COUNT - 1)
    }
    coordinates = {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://shop.example/order-{number}",
        "title": "Order",
        "type": "object",
        "properties": {**properties, "place": coordinates},
        "required": list(properties)[:5],
        "additionalProperties": False,
    }


def main() -> None:
    """Write the files, lint them, and print wall and CPU time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.files):
            suffix, create_schema = ((".avsc", create_avro_schema), (".schema.json", create_json_schema))[number % 2]
            Path(folder, f"topic-{number}-value{suffix}").write_text(json.dumps(create_schema(number), indent=2))
        wall_times, cpu_times = [], []
        for _ in range(options.rounds):
            cpu_before, start_time = os.times(), time.perf_counter()
            result = subprocess.run([*COMMAND, folder], capture_output=True, text=True, check=True)
            cpu_after = os.times()
            wall_times.append(time.perf_counter() - start_time)
            cpu_times.append(
                cpu_after.children_user
                + cpu_after.children_system
                - cpu_before.children_user
                - cpu_before.children_system
            )
        print(result.stderr.splitlines()[0])
        medians = f"{statistics.median(wall_times):.2f} s, {statistics.median(cpu_times):.2f} s of CPU"
        best = f"{min(wall_times):.2f} s, {min(cpu_times):.2f} s"
        print(f"contractlog lint of {options.files:,} files: {medians}; best of {options.rounds}: {best}")


if __name__ == "__main__":
    main()
