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

from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import Reference, SchemaType
from contractlog.registry.transfer.database_access import open_for_export, open_for_import, read_database
from contractlog.registry.transfer.file_format import format_content_lines, format_lines, read_lines
from contractlog.registry.transfer.import_plan import identify_schemas
from contractlog.registry.transfer.importer import import_contents
from contractlog.registry.transfer.registry_contents import RegistryContents, TransferredSchema, TransferredVersion
from contractlog.registry.transfer.report import TransferReport

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


def registry_of(schemas: int) -> RegistryContents:
    """Return the state of a registry of that many schemas."""
    state = RegistryContents()
    for number in range(1, schemas + 1):
        subject, version = Subject(".", f"topic-{(number - 1) // VERSIONS}-value"), (number - 1) % VERSIONS + 1
        kind, text = text_of(number)
        leans = number % 20 == 0 and version > 1
        references = (Reference("other", str(subject), version - 1),) if leans else ()
        state.schemas[".", number] = TransferredSchema(".", number, kind, text, references, created_at=STARTED + number)
        deleted = STARTED + 2 * number if number % 50 == 0 else None
        state.versions[subject, version] = TransferredVersion(subject, version, number, STARTED + number, deleted)
    state.raise_counters()
    return state


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
        state = registry_of(options.schemas)
        with file.open("w") as out:
            out.writelines(line + "\n" for line in format_lines(state, {}))
        print(f"{options.schemas:,} schemas, {file.stat().st_size / 1e6:.0f} MB, into {url.partition(':')[0]}")
        started = time.monotonic()
        with timed("reading the file"), file.open() as lines:
            read = read_lines(lines, TransferReport())
        with timed("understanding (part of the next)"):
            identify_schemas(read, read.schemas.values())
        with open_for_import(url) as store:
            with timed("importing"):
                report = TransferReport()
                import_contents(store, read, report)
            print(f"{'whole import':<32} {time.monotonic() - started:8.1f} s (parsed twice)")
            with timed("importing again"):
                again = TransferReport()
                import_contents(store, read, again)
        with timed("exporting"), open_for_export(url) as snapshot:
            count = sum(1 for _ in format_content_lines(read_database(snapshot)))
    assert report.conflicts == again.conflicts == []
    assert not any(again.done.values())
    print(f"{count:,} lines, at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory")


if __name__ == "__main__":
    main()
