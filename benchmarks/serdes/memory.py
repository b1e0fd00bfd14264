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

from served import served
from shapes import SHAPES

LATEST: Final = {"auto.register.schemas": False, "use.latest.version": True}
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
PARTS: Final = 6


def resident() -> float:
    """Return the resident memory of this process, in MiB."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 2**20


def schema(number: int) -> str:
    """Return a schema that is unique to this number."""
    shape = SHAPES["realistic"].schema
    return json.dumps(shape | {"name": f"Order{number}", "doc": f"number {number}"})


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=3600)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    value: Any = SHAPES["realistic"].values(1)[0]
    with served() as url, Registry(url) as registry:
        for number in range(arguments.schemas):
            registry.register(f"t{number}-value", SchemaDraft(schema(number), SchemaType.AVRO))
        with Registry(url) as fresh:
            serializer, deserializer = AvroSerializer(fresh, conf=LATEST), AvroDeserializer(fresh)
            held = [resident()]
            print(f"{'schemas':>8} {'MiB':>8}")
            print(f"{0:8} {held[0]:8.1f}")
            for number in range(arguments.schemas):
                context = SerializationContext(f"t{number}", MessageField.VALUE)
                for _ in range(2):
                    assert deserializer(serializer(value, context), context) == value
                if (number + 1) % (arguments.schemas // PARTS) == 0:
                    held.append(resident())
                    print(f"{number + 1:8} {held[-1]:8.1f}", flush=True)
    first, last = held[1] - held[0], held[-1] - held[-2]
    good = last <= first / 5
    print(f"the first sixth of the schemas added {first:.1f} MiB, the last {last:.1f}: {'ok' if good else 'GROWS'}")
    return 1 if arguments.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
