"""Start on a store of many schemas, and reads from it, compared with a small store."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from reporting import resident, told, verdict
from work import fetched

from filling import VERSIONS, fill, written
from load import Measured, get, load, processor_seconds
from servers import running

SMALL = 10_000
READ = 10_000  #: different ids, spread over the store
AGAIN = 1_000  #: of them are read repeatedly, and so are the latest versions of as many subjects
CONNECTIONS = 16
GOAL_SECONDS, GOAL_SAME, GOAL_MEMORY = 2, 0.8, 1.2


def start(folder: str, durability: str, schemas: int, seconds: float, count: int) -> None:
    """Compare a store of many schemas with a small one: start, reads, memory."""
    print(f"\nstart on {schemas:,} schemas beside {SMALL:,}: level BACKWARD, {VERSIONS} versions per subject")
    print(f"{durability}; metrics, request ids and counts of fetches on, authentication off")
    urls = {}
    for size in (SMALL, schemas):
        began = time.perf_counter()
        urls[size] = f"sqlite:///{folder}/{size}.db"
        fill(urls[size], size)
        file = Path(folder, f"{size}.db")
        print(f"  {size:,} schemas: {file.stat().st_size >> 20:,} MiB, filled in {time.perf_counter() - began:.0f} s")
    found: dict[int, list[dict[str, Measured]]] = {size: [] for size in urls}
    took: dict[int, list[float]] = {size: [] for size in urls}
    memory: dict[int, list[int]] = {size: [] for size in urls}
    for _ in range(count):
        for size, url in urls.items():
            began = time.perf_counter()
            with running("registry", url, core=None) as (port, pid):
                fetched(port, "/healthz/ready")
                took[size].append(time.perf_counter() - began)
                worked = processor_seconds(pid)
                at_start = resident(pid)
                assert json.loads(fetched(port, f"/schemas/ids/{size}"))["schema"] == written(size)
                found[size].append(_reads(port, pid, size, seconds))
                memory[size].append(resident(pid))
                ready = f"ready after {took[size][-1]:.2f} s, {worked:.2f} s of processor time"
                print(f"  {size:>9,} schemas: {ready}; {at_start} MiB, {memory[size][-1]} after the reads", flush=True)
    print("  every process read what another one had written")
    _compare(found, took, memory, schemas)


def _reads(port: int, pid: int, size: int, seconds: float) -> dict[str, Measured]:
    ids = [get(f"/schemas/ids/{one}") for one in range(1, size + 1, max(1, size // READ))][:READ]
    subjects = range(1, size // VERSIONS + 1, max(1, size // VERSIONS // AGAIN))
    latest = [get(f"/subjects/subject-{one}-value/versions/latest") for one in subjects]
    again = ids[:: READ // AGAIN]
    found = {"each id once": load(port, pid, _divided(ids), 600)}
    load(port, pid, _divided([*again, *latest]), 600)  # until all are cached: responses by id expire after five seconds
    found["ids again"] = load(port, pid, [itertools.cycle(again)] * CONNECTIONS, seconds)
    found["latest"] = load(port, pid, [itertools.cycle(latest)] * CONNECTIONS, seconds)
    return found


def _divided(requests: list[bytes]) -> list[Iterator[bytes]]:
    return [iter(requests[place::CONNECTIONS]) for place in range(CONNECTIONS)]


def _compare(
    found: dict[int, list[dict[str, Measured]]],
    took: dict[int, list[float]],
    memory: dict[int, list[int]],
    schemas: int,
) -> None:
    for name in found[SMALL][0]:
        small, large = (told(f"{name}, {size:,} schemas", [one[name] for one in found[size]]) for size in found)
        verdict(f"{name}: small / large", small.microseconds / large.microseconds, GOAL_SAME)
    # The fastest: other work on the machine can only make it slower.
    verdict("start to ready, seconds", min(took[schemas]), GOAL_SECONDS, at_most=True)
    ratio = statistics.median(memory[schemas]) / statistics.median(memory[SMALL])
    verdict(f"memory after up to {READ:,} different reads", ratio, GOAL_MEMORY, at_most=True)
