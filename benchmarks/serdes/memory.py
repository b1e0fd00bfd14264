"""Memory of plans: one serializer and one deserializer process thousands of different schemas.

    python benchmarks/serdes/memory.py [--schemas 3600] [--check]

Each schema has 15 fields, a subject and an id of its own; each is used twice. ``--check`` exits with 1 if memory grows
with the schemas: the last sixth may add at most a fifth of what the first added. 2,000 plans are cached.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

sys.path[:0] = [str(Path(__file__).parent)]

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer

from record_shapes import RECORD_SHAPES
from registry_server import run_registry

LATEST: Final = {"auto.register.schemas": False, "use.latest.version": True}
PAGE_SIZE: Final = os.sysconf("SC_PAGE_SIZE")
PART_COUNT: Final = 6


def read_resident_memory() -> float:
    """Return the resident memory of this process, in MiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE / 2**20


def create_schema(number: int) -> str:
    """Return a schema that is unique to this number."""
    shape = RECORD_SHAPES["realistic"].schema
    return json.dumps(shape | {"name": f"Order{number}", "doc": f"number {number}"})


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=3600)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    value: Any = RECORD_SHAPES["realistic"].create_values(1)[0]
    with run_registry() as url, Registry(url) as registry:
        for number in range(arguments.schemas):
            registry.register(f"t{number}-value", SchemaDraft(create_schema(number), SchemaType.AVRO))
        with Registry(url) as fresh_registry:
            serializer, deserializer = AvroSerializer(fresh_registry, conf=LATEST), AvroDeserializer(fresh_registry)
            memory_sizes = [read_resident_memory()]
            print(f"{'schemas':>8} {'MiB':>8}")
            print(f"{0:8} {memory_sizes[0]:8.1f}")
            for number in range(arguments.schemas):
                context = SerializationContext(f"t{number}", MessageField.VALUE)
                for _ in range(2):
                    assert deserializer(serializer(value, context), context) == value
                if (number + 1) % (arguments.schemas // PART_COUNT) == 0:
                    memory_sizes.append(read_resident_memory())
                    print(f"{number + 1:8} {memory_sizes[-1]:8.1f}", flush=True)
    first, last = memory_sizes[1] - memory_sizes[0], memory_sizes[-1] - memory_sizes[-2]
    is_bounded = last <= first / 5
    print(
        f"the first sixth of the schemas added {first:.1f} MiB, the last {last:.1f}: {'ok' if is_bounded else 'GROWS'}"
    )
    return 1 if arguments.check and not is_bounded else 0


if __name__ == "__main__":
    sys.exit(main())
