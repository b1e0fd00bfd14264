"""Time of the import and export of a whole registry, by phase.

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
FIRST_TIMESTAMP = 1_700_000_000_000
FIELD_TYPES: list[Any] = ["string", "long", "double", "boolean", "int", {"type": "array", "items": "string"}]


def create_schema_text(number: int) -> tuple[SchemaType, str]:
    """Return a schema that is unique to this number."""
    names = [f"field_{field}" for field in range(9)] + [f"added_{number}"]
    if number % 5 == 0:
        properties = {name: {"type": "string", "maxLength": index + 1} for index, name in enumerate(names)}
        return SchemaType.JSON, json.dumps({"type": "object", "properties": properties}, separators=(",", ":"))
    fields = [{"name": name, "type": FIELD_TYPES[index % len(FIELD_TYPES)]} for index, name in enumerate(names)]
    body = {"type": "record", "name": f"Record{number}", "namespace": "com.example", "fields": fields}
    return SchemaType.AVRO, json.dumps(body, separators=(",", ":"))


def create_snapshot(schemas: int) -> RegistryContents:
    """Return the state of a registry of that many schemas."""
    state = RegistryContents()
    for number in range(1, schemas + 1):
        subject, version = Subject(".", f"topic-{(number - 1) // VERSIONS}-value"), (number - 1) % VERSIONS + 1
        kind, text = create_schema_text(number)
        has_reference = number % 20 == 0 and version > 1
        references = (Reference("other", str(subject), version - 1),) if has_reference else ()
        state.schemas[".", number] = TransferredSchema(
            ".", number, kind, text, references, created_at=FIRST_TIMESTAMP + number
        )
        deleted = FIRST_TIMESTAMP + 2 * number if number % 50 == 0 else None
        state.versions[subject, version] = TransferredVersion(
            subject, version, number, FIRST_TIMESTAMP + number, deleted
        )
    state.raise_counters()
    return state


@contextmanager
def print_duration(phase: str) -> Iterator[None]:
    """Print the duration of a phase."""
    start_time = time.monotonic()
    yield
    print(f"{phase:<32} {time.monotonic() - start_time:8.1f} s", flush=True)


def main() -> None:
    """Import and export a registry."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--database-url")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.database_url or f"sqlite:///{folder}/registry.db"
        file = Path(folder) / "registry.ndjson"
        state = create_snapshot(options.schemas)
        with file.open("w") as output_file:
            output_file.writelines(line + "\n" for line in format_lines(state, {}))
        print(f"{options.schemas:,} schemas, {file.stat().st_size / 1e6:.0f} MB, into {url.partition(':')[0]}")
        start_time = time.monotonic()
        with print_duration("reading the file"), file.open() as input_file:
            read = read_lines(input_file, TransferReport())
        with print_duration("parsing (part of the import)"):
            identify_schemas(read, read.schemas.values())
        with open_for_import(url) as store:
            with print_duration("importing"):
                report = TransferReport()
                import_contents(store, read, report)
            print(f"{'whole import':<32} {time.monotonic() - start_time:8.1f} s (parsed twice)")
            with print_duration("importing again"):
                second_report = TransferReport()
                import_contents(store, read, second_report)
        with print_duration("exporting"), open_for_export(url) as snapshot:
            count = sum(1 for _ in format_content_lines(read_database(snapshot)))
    assert report.conflicts == second_report.conflicts == []
    assert not any(second_report.done.values())
    print(f"{count:,} lines, at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB of memory")


if __name__ == "__main__":
    main()
