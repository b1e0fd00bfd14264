"""Time of ``contractlog check`` and ``register`` for a folder of schemas that reference each other.

The folder has 500 Avro files with 2,000 references. The commands and the registry (SQLite) run in separate processes.

python benchmarks/check_folder.py [--files 500] [--rounds 3] [--changed 50]

Measured on two quiet cores: 1.4 to 1.9 s to check (0.9 s of CPU time in the command), and 2.5 to
4.5 s (1.0 to 1.8 s) with 50 changed files, whose impact is requested. Registering took 8.7 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from contractlog.clients import Registry

SHARED_TYPES = 100  #: types that the other files reference
REFERENCES_PER_FILE = 5  #: references in each of the other files


def write_folder(folder: Path, files: int) -> None:
    """Write the schema files."""
    generator = random.Random(1)
    for number in range(files):
        referenced = (
            sorted(generator.sample(range(SHARED_TYPES), REFERENCES_PER_FILE)) if number >= SHARED_TYPES else []
        )
        fields = [{"name": f"f{index}", "type": "string", "default": ""} for index in range(8)]
        fields += [{"name": f"u{index}", "type": f"bench.R{index}"} for index in referenced]
        schema = {"type": "record", "name": f"R{number}", "namespace": "bench", "fields": fields}
        (folder / f"bench.R{number}.avsc").write_text(json.dumps(schema, indent=2))


def change_files(folder: Path, numbers: range) -> None:
    """Add a field to each of these files, which no other file refers to."""
    for number in numbers:
        path = folder / f"bench.R{number}.avsc"
        schema = json.loads(path.read_text())
        schema["fields"].append({"name": "added", "type": "string", "default": ""})
        path.write_text(json.dumps(schema, indent=2))


def fetch_ids(url: str, numbers: range) -> None:
    """Fetch the ids of the subjects of these files, as a consumer does."""
    with Registry(url) as registry:
        for number in numbers:
            registry.text_of_id(registry.version(f"bench.R{number}", "latest").schema_id)


def run_verb(verb: str, folder: Path, url: str) -> str:
    """Run a command; return its wall time and CPU time."""
    cpu_before, start_time = measure_children_cpu(), time.perf_counter()
    command = [sys.executable, "-m", "contractlog.clients.cli.main", verb, str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"CONTRACTLOG_REGISTRY_URL": url})
    return f"{time.perf_counter() - start_time:6.2f} s, CPU of the command {measure_children_cpu() - cpu_before:5.2f} s"


def measure_children_cpu() -> float:
    """Return the processor time of all child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--changed", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "schemas")
        folder.mkdir()
        write_folder(folder, arguments.files)
        command = [sys.executable, "-m", "contractlog.clients.cli.main", "serve", "--port", "0", "--format", "json"]
        command += ["--database-url", f"sqlite:///{name}/registry.db"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout is not None
                url = json.loads(server.stdout.readline())["url"]
                print(f"register {arguments.files} files ", run_verb("register", folder, url))
                for _ in range(arguments.rounds):
                    print(f"check {arguments.files} files    ", run_verb("check", folder, url))
                changed = range(arguments.files - arguments.changed, arguments.files)
                fetch_ids(url, changed)
                change_files(folder, changed)
                for _ in range(arguments.rounds):
                    print(f"check, {arguments.changed} changed", run_verb("check", folder, url))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
