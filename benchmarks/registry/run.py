"""Reads, registrations and start of the registry, each beside its alternative in one run.

    python benchmarks/registry/run.py [--seconds 4] [--rounds 3] [--schemas 1000000]
                                      [--only reads,latest,registration,start]

The server has core 0 and the load core 1. Ratios of reads compare processor time for each request, which is steadier
than the clock where cores are shared. PostgreSQL is started in a folder of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "tests")]

from contractlog.registry.database import upgrade

from filling import fill
from load import Measured, get, load, post
from servers import running
from support.postgres import making_server

CONNECTIONS, VERSIONS = 64, 10
GOALS = {
    "reads": 0.5,
    "latest sqlite": 0.4,
    "latest postgresql": 0.8,
    "registration sqlite": 3,
    "registration postgresql": 5,
}
Servers = dict[str, tuple[int, int]]


def version(subject: int, number: int) -> bytes:
    """Return the body that registers a version: each adds a field with a default."""
    fields = [{"name": "id", "type": "string"}] + [
        {"name": f"field_{one}", "type": ["null", "long"], "default": None, "doc": f"of subject {subject}"}
        for one in range(number)
    ]
    return json.dumps(
        {"schema": json.dumps({"type": "record", "name": "Order", "namespace": f"ns{subject}", "fields": fields})}
    ).encode()


def rounds(runs: dict[str, Callable[[], Measured]], count: int) -> dict[str, list[Measured]]:
    """Run every variant once per round, one after the other."""
    found: dict[str, list[Measured]] = {name: [] for name in runs}
    for _ in range(count):
        for name, run in runs.items():
            found[name].append(run())
    return found


def told(name: str, measured: list[Measured]) -> Measured:
    """Print the median round and return it."""
    middle = sorted(measured, key=lambda one: one.microseconds)[len(measured) // 2]
    print(f"  {name:44} {middle}")
    return middle


def verdict(name: str, ratio: float, goal: float) -> None:
    """Print a ratio beside its goal."""
    print(f"  {'-> ' + name:44} {ratio:8.2f}  goal {goal}  {'reached' if ratio >= goal else 'MISSED'}")


def registered(port: int, subject: str, body: bytes, authorization: str = "Basic Og==") -> int:
    """Register one schema."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/subjects/{subject}/versions",
        body,
        {"Content-Type": "application/json", "Authorization": authorization},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        found: int = json.load(answer)["id"]
        return found


def reads(database: str, seconds: float, count: int) -> None:
    """Compare cached reads by id with a bare ASGI application."""
    print("\ncached GET /schemas/ids/{id}: level BACKWARD, 1 version; metrics, request ids and authentication on")
    with tempfile.TemporaryDirectory() as folder:
        file, authorization = user(Path(folder))
        _reads(database, seconds, count, file, authorization)


def user(folder: Path) -> tuple[str, str]:
    """Make a file with a user who may do everything, and the header by which it is known."""
    file = str(folder / "users.toml")
    command = [
        sys.executable,
        "-m",
        "contractlog.clients.cli.main",
        "users",
        "add",
        "ci",
        "--read",
        "*",
        "--write",
        "*",
    ]
    made = subprocess.run([*command, "--generate", "--file", file], check=True, capture_output=True, text=True)
    return file, f"Basic {b64encode(f'ci:{made.stdout.split()[0]}'.encode()).decode()}"


def _reads(database: str, seconds: float, count: int, file: str, authorization: str) -> None:
    header = f"Authorization: {authorization}\r\n"
    with running("bare", "-") as bare, running("registry", database, CONTRACTLOG_USERS_FILE=file) as ours:
        registered(ours[0], "s", version(0, 9), authorization)
        paths = {
            "bare form": "/schemas/ids/1",
            "?subject=s": "/schemas/ids/1?subject=s",
            "?fetchMaxId=false&subject=": "/schemas/ids/1?fetchMaxId=false&subject=",
        }
        forever = {name: itertools.repeat(get(path, header)) for name, path in paths.items()}
        runs = {
            "bare ASGI application": lambda: load(
                *bare, [itertools.repeat(get("/schemas/ids/1"))] * CONNECTIONS, seconds
            )
        } | {name: (lambda each=each: load(*ours, [each] * CONNECTIONS, seconds)) for name, each in forever.items()}
        found = rounds(runs, count)
    base = told("bare ASGI application", found["bare ASGI application"])
    for name in paths:
        one = told(name, found[name])
        verdict(name, base.microseconds / one.microseconds, GOALS["reads"])


def latest(kind: str, database: str, seconds: float, count: int) -> None:
    """Compare versions/latest."""
    print(f"\nGET /subjects/{{s}}/versions/latest on {kind}: {VERSIONS} versions per subject")
    with running("registry", database) as ours:
        for number in range(1, VERSIONS + 1):
            registered(ours[0], "latest", version(7, number))
        with running("bare", "-") as bare:
            runs = {
                "bare ASGI application": lambda: load(*bare, [itertools.repeat(get("/x"))] * CONNECTIONS, seconds),
                "registry": lambda: load(
                    *ours, [itertools.repeat(get("/subjects/latest/versions/latest"))] * CONNECTIONS, seconds
                ),
            }
            if kind == "postgresql":
                with running("select", database) as select:
                    runs["the same select behind bare ASGI"] = lambda: load(
                        *select, [itertools.repeat(get("/subjects/latest/versions/latest"))] * CONNECTIONS, seconds
                    )
                    found = rounds(runs, count)
            else:
                found = rounds(runs, count)
    shown = {name: told(name, measured) for name, measured in found.items()}
    base = shown.get("the same select behind bare ASGI", shown["bare ASGI application"])
    verdict(f"latest on {kind}", base.microseconds / shown["registry"].microseconds, GOALS[f"latest {kind}"])


def writer(place: int, run: str) -> Iterator[bytes]:
    """Send ten versions of one subject after the other."""
    for subject in itertools.count():
        name = f"{run}-{place}-{subject}"
        for number in range(1, VERSIONS + 1):
            yield post(f"/subjects/{name}/versions", version(place * 100_000 + subject, number))


def registration(kind: str, database: str, seconds: float, count: int) -> None:
    """Compare registrations with one transaction for each."""
    durability = "WAL, synchronous=FULL" if kind == "sqlite" else "fsync=on, synchronous_commit=on"
    print(f"\nregistration on {kind}, {durability}: level BACKWARD, {VERSIONS} versions per subject")
    print(f"{CONNECTIONS} clients, but where it says one; a second node reads what was written on PostgreSQL")
    numbers = itertools.count()

    def against(server: tuple[int, int], clients: int = CONNECTIONS) -> Measured:
        run = f"r{os.getpid()}-{next(numbers)}"
        return load(*server, [writer(place, run) for place in range(clients)], seconds)

    single, ours = [], []
    alone = []
    for _ in range(count):
        with running("single", database, core=None) as server:
            against(server)  # until statements are compiled
            single.append(against(server))
        with running("registry", database, core=None) as server:
            against(server)
            alone.append(against(server, 1))
            ours.append(against(server))
            newest = registered(server[0], f"new-{next(numbers)}", version(next(numbers), 3))
            if kind == "postgresql":
                with (
                    running("registry", database, core=None) as second,
                    urllib.request.urlopen(f"http://127.0.0.1:{second[0]}/schemas/ids/{newest}") as answer,
                ):
                    assert answer.read()
    told("one transaction per request", single)
    told("registry, 1 client", alone)
    many = told("registry", ours)
    verdict(
        f"registration on {kind}",
        statistics.median(one.per_second for one in ours) / statistics.median(one.per_second for one in single),
        GOALS[f"registration {kind}"],
    )
    print(f"  {'-> p99 / p50':44} {many.percentile(0.99) / many.percentile(0.5):8.2f}  goal at most 5")


def start(database: str, schemas: int, seconds: float) -> None:
    """Start on a store of many schemas, and read from it."""
    print(f"\nstart on {schemas:,} schemas")
    fill(database, schemas)
    took = []
    for _ in range(3):
        began = time.perf_counter()
        with running("registry", database, core=None) as (port, pid):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz/ready").close()
            took.append(time.perf_counter() - began)
            memory = resident(pid)
            ids = itertools.cycle(get(f"/schemas/ids/{one}") for one in range(1, schemas, max(1, schemas // 50_000)))
            found = load(port, pid, [ids] * 16, seconds)
            print(f"  ready after {took[-1]:.2f} s with {memory} MiB")
            print(f"  {resident(pid)} MiB after {found.requests:,} reads by id: {found}")
    print(f"  {'-> start to ready, seconds':44} {statistics.median(took):8.2f}  goal under 2")


def resident(pid: int) -> int:
    """Return the memory that a process holds, in MiB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 2**20


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Make an empty database of each kind, with full durability."""
    with tempfile.TemporaryDirectory() as folder, making_server(durable=True) as server:
        server.start()
        upgrade(server.url)
        yield {"sqlite": f"sqlite:///{folder}/bench.db", "postgresql": server.url}


def main() -> None:
    """Run everything that is asked for."""
    parser = argparse.ArgumentParser(description="the registry beside its alternatives")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="reads,latest,registration,start")
    parser.add_argument("--schemas", type=int, default=1_000_000)
    arguments = parser.parse_args()
    wanted = set(arguments.only.split(","))
    os.sched_setaffinity(0, {1 % (os.cpu_count() or 1)})
    with databases() as urls:
        if "reads" in wanted:
            reads(urls["sqlite"], arguments.seconds, arguments.rounds)
        for kind, url in urls.items():
            if "latest" in wanted:
                latest(kind, url, arguments.seconds, arguments.rounds)
        for kind, url in urls.items():
            if "registration" in wanted:
                registration(kind, url, arguments.seconds, arguments.rounds)
        if "start" in wanted:
            with tempfile.TemporaryDirectory() as folder:
                start(f"sqlite:///{folder}/many.db", arguments.schemas, arguments.seconds)


if __name__ == "__main__":
    main()
