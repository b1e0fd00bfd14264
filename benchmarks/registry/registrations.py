"""Registrations compared with one transaction per request, and two nodes with the same work."""

from __future__ import annotations

import itertools
import os
import statistics
import threading
from collections.abc import Iterator

from load_generator import LoadResult, format_post, generate_load
from report import print_median, print_ratio
from servers import run_variant
from workload import (
    CONNECTIONS,
    VERSIONS_PER_SUBJECT,
    create_request_body,
    fetch,
    generate_registrations,
    register_schema,
)

GOALS = {"sqlite": 3, "postgresql": 5}
GOAL_TAIL = 5  #: times the median

_runs = itertools.count()


def send_registrations(server: tuple[int, int], seconds: float, clients: int = CONNECTIONS) -> LoadResult:
    """Let clients register schemas, each under new subjects."""
    run = f"r{os.getpid()}-{next(_runs)}"
    return generate_load(*server, [generate_registrations(index, run) for index in range(clients)], seconds)


def compare_registrations(kind: str, database: str, durability: str, seconds: float, count: int) -> None:
    """Compare registrations with one transaction per request."""
    print(f"\nregistration on {kind}, {durability}: level BACKWARD, {VERSIONS_PER_SUBJECT} versions per subject")
    print(f"{CONNECTIONS} clients, unless stated otherwise; metrics and request ids on, authentication off")
    single_results, one_client_results, results = [], [], []
    for _ in range(count):
        with run_variant("single", database, core=None) as server:
            send_registrations(server, seconds / 2)  # until statements are compiled
            single_results.append(send_registrations(server, seconds))
        with run_variant("registry", database, core=None) as server:
            send_registrations(server, seconds / 2)
            one_client_results.append(send_registrations(server, seconds / 2, 1))
            results.append(send_registrations(server, seconds))
            newest_id = register_schema(
                server[0], f"new-{os.getpid()}-{next(_runs)}", create_request_body(next(_runs), 3)
            )
            stored_schema = fetch(server[0], f"/schemas/ids/{newest_id}")
            if kind == "postgresql":
                with run_variant("registry", database, core=None) as second:
                    assert fetch(second[0], f"/schemas/ids/{newest_id}") == stored_schema
        with run_variant("registry", database, core=None) as later:
            assert fetch(later[0], f"/schemas/ids/{newest_id}") == stored_schema
    print_median("one transaction per request", single_results)
    print_median("registry, 1 client", one_client_results)
    median_result = print_median("registry", results)
    ratio = statistics.median(result.requests_per_second for result in results) / statistics.median(
        result.requests_per_second for result in single_results
    )
    print_ratio(f"registration on {kind}", ratio, GOALS[kind])
    print_ratio("p99 / p50", median_result.percentile(0.99) / median_result.percentile(0.5), GOAL_TAIL, at_most=True)
    second_reader = "a second node while the first one ran, and " if kind == "postgresql" else ""
    print(f"  the new schema was read by {second_reader}a process that was started later")
    if kind == "postgresql":
        compare_two_nodes(database, seconds)


def compare_two_nodes(database: str, seconds: float) -> None:
    """Register the same schemas on two nodes concurrently; none may fail, and both must agree."""
    run = f"t{os.getpid()}-{next(_runs)}"
    with run_variant("registry", database, core=None) as first, run_variant("registry", database, core=None) as second:
        results: list[LoadResult] = []

        def register_on(server: tuple[int, int]) -> None:
            results.append(
                generate_load(
                    *server, [_generate_same_registrations(index, run) for index in range(CONNECTIONS // 2)], seconds
                )
            )

        clients = [threading.Thread(target=register_on, args=(server,)) for server in (first, second)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        names = [f"{run}-{index}-0" for index in range(CONNECTIONS // 2)]
        for name in names:
            path = f"/subjects/{name}/versions/latest"
            assert fetch(first[0], path) == fetch(second[0], path)
    error_count = sum(result.error_count for result in results)
    response_count = sum(result.requests for result in results)
    print(f"  two nodes, the same schemas on both: {response_count:,} responses, {error_count} errors")
    assert error_count == 0


def _generate_same_registrations(index: int, run: str) -> Iterator[bytes]:
    for subject in itertools.count():
        for number in range(1, VERSIONS_PER_SUBJECT + 1):
            yield format_post(
                f"/subjects/{run}-{index}-{subject}/versions", create_request_body(index * 100_000 + subject, number)
            )
