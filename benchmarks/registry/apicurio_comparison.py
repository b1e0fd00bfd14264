"""Comparison with Apicurio Registry: the same work in the same run, after a warm-up."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from apicurio import PREFIX, VERSION, run_apicurio
from load_generator import LoadResult, format_get, generate_load
from report import print_median, read_resident_memory, run_rounds
from servers import run_variant
from workload import (
    CONNECTIONS,
    VERSIONS_PER_SUBJECT,
    create_request_body,
    fetch,
    generate_registrations,
    register_schema,
)

WARM_UP_SECONDS = 30


def compare_with_apicurio(database: str, durability: str, seconds: float, count: int) -> None:
    """Compare reads and registrations, per second and per second of processor time."""
    print(f"\ncompared with Apicurio Registry {VERSION} on Java 25")
    print(f"level BACKWARD, {VERSIONS_PER_SUBJECT} versions per subject")
    print(f"the registry on SQLite, {durability}; Apicurio on its own H2 in memory: its writes are not durable")
    print(f"metrics and request ids on, no authentication, no access log; {CONNECTIONS} connections, both on all cores")
    with run_variant("registry", database, core=None) as our_server, run_apicurio() as apicurio_server:
        sides = {"registry": (our_server, ""), "Apicurio": (apicurio_server, PREFIX)}
        for name, (server, prefix) in sides.items():
            for number in range(1, VERSIONS_PER_SUBJECT + 1):
                register_schema(server[0], "peer", create_request_body(7, number), prefix=prefix)
            for run_work in _create_runs(server, prefix, "warm", WARM_UP_SECONDS / 3).values():
                run_work()
            print(f"  {name} is warm: {read_resident_memory(server[1])} MiB")
        runs = {
            f"{work_name}, {name}": run_work
            for name, (server, prefix) in sides.items()
            for work_name, run_work in _create_runs(server, prefix, "run", seconds).items()
        }
        results = run_rounds(runs, count)
        stored_schema = fetch(our_server[0], "/schemas/ids/1")
        for work_name in _create_runs(our_server, "", "run", seconds):
            ours, theirs = (print_median(f"{work_name}, {name}", results[f"{work_name}, {name}"]) for name in sides)
            speed = ours.requests_per_second / theirs.requests_per_second
            efficiency = theirs.microseconds_per_request / ours.microseconds_per_request
            print(
                f"  -> {work_name}: {speed:.2f} times per second, {efficiency:.2f} times per second of processor time"
            )
    with run_variant("registry", database, core=None) as second:
        assert fetch(second[0], "/schemas/ids/1") == stored_schema
    print("  a second process read the schema that the first one wrote")


_numbers = itertools.count()


def _create_runs(
    server: tuple[int, int], prefix: str, run_name: str, seconds: float
) -> dict[str, Callable[[], LoadResult]]:
    def repeat_read(path: str) -> LoadResult:
        return generate_load(*server, [itertools.repeat(format_get(prefix + path))] * CONNECTIONS, seconds)

    def register_schemas() -> LoadResult:
        run = f"{run_name}-{os.getpid()}-{next(_numbers)}"
        return generate_load(
            *server, [generate_registrations(index, run, prefix) for index in range(CONNECTIONS)], seconds
        )

    return {
        "GET /schemas/ids/1": lambda: repeat_read("/schemas/ids/1"),
        "versions/latest": lambda: repeat_read("/subjects/peer/versions/latest"),
        "registrations": register_schemas,
    }
