"""Small audits as whole commands: the first of a machine, and later ones.

Prints the seconds from the start of the command to its end, and the ratio of the two.

    python benchmarks/audit/start.py [--rounds 3] [--check]

Each round audits 1,000 records of a Parquet archive twice, with a new cache folder: without an archive of classes, and
with the one that the first audit has left. ``--check`` exits with 1 if the later audits take ten seconds or more.

Measured on two cores with little other work: the first audit 14.1 s, later ones 8.9 s.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[1] / "serdes"))

import pyarrow as pa
import pyarrow.parquet as pq

from contractlog.clients import Registry
from contractlog.compatibility.schema import SchemaDraft

from registry_server import run_registry

RECORDS: Final = 1_000
LIMIT: Final = 10.0  #: seconds of a later audit
SCHEMA: Final = (
    '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"note","type":"string"}]}'
)
BODY: Final = b"\x54\x0aplain"  #: 42 and a string of five characters
WRITTEN_SECONDS: Final = 120.0  #: how long the archive of classes is waited for


def write_topic(folder: Path, schema_id: int) -> None:
    """Write the records of one topic as Parquet."""
    (folder / "topic=orders").mkdir(parents=True)
    value = b"\0" + schema_id.to_bytes(4, "big") + BODY
    columns = {
        "partition": pa.array([0] * RECORDS, pa.int32()),
        "offset": pa.array(range(RECORDS), pa.int64()),
        "value": pa.array([value] * RECORDS, pa.binary()),
    }
    pq.write_table(pa.table(columns), folder / "topic=orders" / "0.parquet")


def audit(url: str, archive: Path, out: Path, cache: Path) -> float:
    """Run the command, and return its seconds."""
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "audit", "--archive", str(archive)]
    start = time.perf_counter()
    subprocess.run(
        [*command, "--registry", url, "--out", str(out), "--master", "local[2]"],
        check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def await_archive(cache: Path) -> None:
    """Wait until Java has written the archive of its classes, after the command has ended."""
    end = time.monotonic() + WRITTEN_SECONDS
    while not any(file.read_bytes()[:4] != bytes(4) for file in (cache / "contractlog" / "classes").glob("*")):
        assert time.monotonic() < end, "no archive of classes was written"
        time.sleep(0.2)


def main() -> int:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    first: list[float] = []
    later: list[float] = []
    with tempfile.TemporaryDirectory() as name, run_registry() as url:
        folder = Path(name)
        with Registry(url) as registry:
            schema_id = int(registry.register("orders-value", SchemaDraft(SCHEMA)).schema_id)
        write_topic(folder / "archive", schema_id)
        for number in range(options.rounds):
            cache = folder / f"cache{number}"
            first.append(audit(url, folder / "archive", folder / f"first{number}", cache))
            await_archive(cache)
            later.append(audit(url, folder / "archive", folder / f"later{number}", cache))
    print(f"{'the first audit of a machine':32} {statistics.median(first):6.1f} s, best {min(first):6.1f} s")
    print(f"{'later audits':32} {statistics.median(later):6.1f} s, best {min(later):6.1f} s")
    print(f"first / later: {statistics.median(first) / statistics.median(later):.2f}")
    return 1 if options.check and statistics.median(later) >= LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
