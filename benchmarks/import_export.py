"""Import and export of a whole registry: each phase in seconds.

    python benchmarks/import_export.py [--schemas 100000] [--database-url postgresql://…]

Without a database URL it imports into a new SQLite file, with full durability. A database on PostgreSQL must have its
tables and be empty. The schemas are Avro records of ten fields and JSON schemas, ten versions to a subject; one in
twenty references another one, and one version in fifty is soft-deleted.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.moving.databases import reading, writing
from contractlog.registry.moving.importing import bring
from contractlog.registry.moving.lines import read_lines, state_lines, written
from contractlog.registry.moving.picture import HeldSchema, HeldVersion, Picture
from contractlog.registry.moving.report import Report
from contractlog.registry.moving.stored import pictured
from contractlog.registry.moving.understanding import identified

VERSIONS = 10  #: per subject
STARTED = 1_700_000_000_000
KINDS: list[Any] = ["string", "long", "double", "boolean", "int", {"type": "array", "items": "string"}]


def text_of(number: int) -> tuple[SchemaType, str]:
    """Return a schema that is unique to this number."""
    names = [f"field_{field}" for field in range(9)] + [f"added_{number}"]
    if number % 5 == 0:
        properties = {name: {"type": "string", "maxLength": place + 1} for place, name in enumerate(names)}
        return SchemaType.JSON, json.dumps({"type": "object", "properties": properties}, separators=(",", ":"))
    fields = [{"name": name, "type": KINDS[place % len(KINDS)]} for place, name in enumerate(names)]
    body = {"type": "record", "name": f"Record{number}", "namespace": "com.example", "fields": fields}
    return SchemaType.AVRO, json.dumps(body, separators=(",", ":"))


def registry_of(schemas: int) -> Picture:
    """Return the state of a registry of that many schemas."""
    picture = Picture()
    for number in range(1, schemas + 1):
        subject, version = Subject(".", f"topic-{(number - 1) // VERSIONS}-value"), (number - 1) % VERSIONS + 1
        kind, text = text_of(number)
        leans = number % 20 == 0 and version > 1
        references = (Reference("other", str(subject), version - 1),) if leans else ()
        picture.schemas[".", number] = HeldSchema(".", number, kind, text, references, created_at=STARTED + number)
        deleted = STARTED + 2 * number if number % 50 == 0 else None
        picture.versions[subject, version] = HeldVersion(subject, version, number, STARTED + number, deleted)
    picture.count_ids()
    return picture


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long a phase took."""
    started = time.monotonic()
    yield
    print(f"{what:<32} {time.monotonic() - started:8.1f} s", flush=True)


def main() -> None:
    """Import and export a registry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--database-url")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.database_url or f"sqlite:///{folder}/registry.db"
        file = Path(folder) / "registry.ndjson"
        picture = registry_of(options.schemas)
        with file.open("w") as out:
            out.writelines(line + "\n" for line in written(picture, {}))
        print(f"{options.schemas:,} schemas, {file.stat().st_size / 1e6:.0f} MB, into {url.partition(':')[0]}")
        started = time.monotonic()
        with timed("reading the file"), file.open() as lines:
            read = read_lines(lines, Report())
        with timed("understanding (part of the next)"):
            identified(read, read.schemas.values())
        with writing(url) as store:
            with timed("importing"):
                report = Report()
                bring(store, read, report)
            print(f"{'whole import':<32} {time.monotonic() - started:8.1f} s (understood twice)")
            with timed("importing again"):
                again = Report()
                bring(store, read, again)
        with timed("exporting"), reading(url) as snapshot:
            count = sum(1 for _ in state_lines(pictured(snapshot)))
    assert report.conflicts == again.conflicts == []
    assert not any(again.done.values())
    print(f"{count:,} lines, at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory")


if __name__ == "__main__":
    main()
