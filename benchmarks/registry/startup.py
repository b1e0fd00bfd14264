"""Startup and reads with many stored schemas, compared with few."""

from __future__ import annotations

import itertools
import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from bulk_insert import VERSIONS, get_schema_text, insert_schemas
from load_generator import LoadResult, format_get, generate_load, read_processor_seconds
from report import print_median, print_ratio, read_resident_memory
from servers import run_variant
from workload import fetch

SMALL_SIZE = 10_000
READ_COUNT = 10_000  #: different ids, spread over the store
REPEATED_COUNT = 1_000  #: of these, the number read repeatedly, and of subjects whose latest versions are
CONNECTIONS = 16
GOAL_SECONDS, GOAL_READS, GOAL_MEMORY = 2, 0.8, 1.2


def compare_startup(folder: str, durability: str, schemas: int, seconds: float, count: int) -> None:
    """Compare startup, reads and memory with many and with few stored schemas."""
    print(f"\nstart on {schemas:,} schemas beside {SMALL_SIZE:,}: level BACKWARD, {VERSIONS} versions per subject")
    print(f"{durability}; metrics, request ids and counts of fetches on, authentication off")
    urls = {}
    for size in (SMALL_SIZE, schemas):
        start_time = time.perf_counter()
        urls[size] = f"sqlite:///{folder}/{size}.db"
        insert_schemas(urls[size], size)
        file = Path(folder, f"{size}.db")
        print(
            f"  {size:,} schemas: {file.stat().st_size >> 20:,} MiB, filled in {time.perf_counter() - start_time:.0f} s"
        )
    read_results: dict[int, list[dict[str, LoadResult]]] = {size: [] for size in urls}
    start_seconds: dict[int, list[float]] = {size: [] for size in urls}
    memory_sizes: dict[int, list[int]] = {size: [] for size in urls}
    for _ in range(count):
        for size, url in urls.items():
            start_time = time.perf_counter()
            with run_variant("registry", url, core=None) as (port, pid):
                fetch(port, "/healthz/ready")
                start_seconds[size].append(time.perf_counter() - start_time)
                cpu_seconds = read_processor_seconds(pid)
                memory_at_start = read_resident_memory(pid)
                assert json.loads(fetch(port, f"/schemas/ids/{size}"))["schema"] == get_schema_text(size)
                read_results[size].append(_measure_reads(port, pid, size, seconds))
                memory_sizes[size].append(read_resident_memory(pid))
                ready = f"ready after {start_seconds[size][-1]:.2f} s, {cpu_seconds:.2f} s of processor time"
                print(
                    f"  {size:>9,} schemas: {ready}; {memory_at_start} MiB, {memory_sizes[size][-1]} after the reads",
                    flush=True,
                )
    print("  every process read schemas that another one had written")
    _print_comparison(read_results, start_seconds, memory_sizes, schemas)


def _measure_reads(port: int, pid: int, size: int, seconds: float) -> dict[str, LoadResult]:
    ids = [format_get(f"/schemas/ids/{number}") for number in range(1, size + 1, max(1, size // READ_COUNT))][
        :READ_COUNT
    ]
    subjects = range(1, size // VERSIONS + 1, max(1, size // VERSIONS // REPEATED_COUNT))
    latest = [format_get(f"/subjects/subject-{number}-value/versions/latest") for number in subjects]
    repeated = ids[:: READ_COUNT // REPEATED_COUNT]
    results = {"each id once": generate_load(port, pid, _divide_among_connections(ids), 600)}
    generate_load(
        port, pid, _divide_among_connections([*repeated, *latest]), 600
    )  # until all are cached; responses by id expire after five seconds
    results["ids again"] = generate_load(port, pid, [itertools.cycle(repeated)] * CONNECTIONS, seconds)
    results["latest"] = generate_load(port, pid, [itertools.cycle(latest)] * CONNECTIONS, seconds)
    return results


def _divide_among_connections(requests: list[bytes]) -> list[Iterator[bytes]]:
    return [iter(requests[index::CONNECTIONS]) for index in range(CONNECTIONS)]


def _print_comparison(
    read_results: dict[int, list[dict[str, LoadResult]]],
    start_seconds: dict[int, list[float]],
    memory_sizes: dict[int, list[int]],
    schemas: int,
) -> None:
    for name in read_results[SMALL_SIZE][0]:
        small, large = (
            print_median(f"{name}, {size:,} schemas", [results[name] for results in read_results[size]])
            for size in read_results
        )
        print_ratio(
            f"{name}: small / large", small.microseconds_per_request / large.microseconds_per_request, GOAL_READS
        )
    # The fastest start: other work on the machine only makes it slower.
    print_ratio("start to ready, seconds", min(start_seconds[schemas]), GOAL_SECONDS, at_most=True)
    ratio = statistics.median(memory_sizes[schemas]) / statistics.median(memory_sizes[SMALL_SIZE])
    print_ratio(f"memory after up to {READ_COUNT:,} different reads", ratio, GOAL_MEMORY, at_most=True)
