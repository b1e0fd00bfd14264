"""Time of ``contractlog promote`` from one registry to another.

The folder has 500 Avro files with 2,000 references, as in ``check_folder.py``. The command and both registries (SQLite)
run in separate processes. The requests of the command are counted in its ``--verbose`` output.

python benchmarks/promote.py [--files 500] [--rounds 3]

Measured on two cores that other work shared (load 8 to 12): 8 s with 508 requests if nothing is missing, 10 s with
1,006 if everything is, 43 s to register everything. With one request for each version it was 30 s and 27 s with 3,000
requests, and 72 s.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from check_folder import measure_children_cpu, write_folder

COMMAND = [sys.executable, "-m", "contractlog.clients.cli.main"]


@contextmanager
def run_registry(database: Path) -> Iterator[str]:
    """Run a registry in a process, and yield its URL."""
    command = [*COMMAND, "serve", "--port", "0", "--format", "json", "--database-url", f"sqlite:///{database}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["url"]
        finally:
            server.terminate()


def run_verb(folder: Path, *arguments: str) -> str:
    """Run a command; return its wall time, its CPU time, and the number of its requests."""
    cpu_before, start_time = measure_children_cpu(), time.perf_counter()
    done = subprocess.run([*COMMAND, *arguments], check=True, capture_output=True, cwd=folder, env=os.environ)
    times = (
        f"{time.perf_counter() - start_time:6.2f} s, CPU of the command {measure_children_cpu() - cpu_before:5.2f} s"
    )
    requests = subprocess.run([*COMMAND, *arguments, "--verbose"], check=True, capture_output=True, cwd=folder)
    return f"{times}, repeated with {requests.stderr.count(b' ms)')} requests, {len(done.stdout.splitlines())} lines"


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as registries:
        folder = Path(name, "schemas")
        folder.mkdir()
        write_folder(folder, arguments.files)
        environments = ""
        for each in ("dev", "prod"):
            url = registries.enter_context(run_registry(Path(name, f"{each}.db")))
            environments += f'[environments.{each}]\nregistry = "{url}"\n'
        (folder / "contractlog.toml").write_text(environments)
        run_verb(folder, "register", "--environment", "dev")
        for _ in range(arguments.rounds):
            print("promote, all missing", run_verb(folder, "promote", "dev", "prod"))
        print("promote --apply     ", run_verb(folder, "promote", "dev", "prod", "--apply"))
        for _ in range(arguments.rounds):
            print("promote, no missing ", run_verb(folder, "promote", "dev", "prod"))


if __name__ == "__main__":
    main()
