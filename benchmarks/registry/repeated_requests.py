"""Registrations of schemas that exist, and the storm of requests when thousands of producers start."""

from __future__ import annotations

import itertools
import json
import resource
from collections.abc import Iterator

from load_generator import LoadResult, format_get, format_post, generate_load
from report import print_median, print_ratio, run_rounds
from servers import run_variant
from workload import CONNECTIONS, create_request_body, register_schema

SUBJECTS = 100
CLIENTS = 5_000
REQUESTS_PER_CLIENT = 4
_MAX_SECONDS = 60.0
GOAL_PER_SECOND = 15_000
GOAL_P99_MS = 10
GOAL_STORM_SECONDS = 2


def compare_repeated_registrations(kind: str, database: str, durability: str, seconds: float, count: int) -> None:
    """Measure registrations of a schema that another node registered before."""
    print(f"\nPOST /subjects/{{s}}/versions of schemas that exist, on {kind}: {CONNECTIONS} connections")
    print(f"{durability}; metrics and request ids on, authentication off")
    bodies = _register_all(database)
    with run_variant("registry", database) as server:
        requests = [
            itertools.cycle(format_post(f"/subjects/{subject}/versions", body) for subject, body in bodies.items())
            for _ in range(CONNECTIONS)
        ]
        generate_load(*server, requests, seconds / 2)  # until each schema was requested once
        results = run_rounds({"registry": lambda: generate_load(*server, requests, seconds)}, count)["registry"]
    median = print_median("registry", results)
    print_ratio(f"registered again on {kind}, per second", median.requests_per_second, GOAL_PER_SECOND)
    print_ratio(f"registered again on {kind}, p99 in ms", median.percentile(0.99), GOAL_P99_MS, at_most=True)


def compare_storm(kind: str, database: str, durability: str, _seconds: float, count: int) -> None:
    """Measure how long the first requests of 5,000 clients take that start at the same time."""
    print(f"\n{CLIENTS} clients start, on {kind}: each registers a known schema, and reads id, config and association")
    print(durability)
    _allow_connections(CLIENTS + 100)
    ids = _register_all(database, with_ids=True)
    with run_variant("registry", database) as server:
        _run_storm(server, ids, clients=CONNECTIONS)  # connections and codecs are warm, as on a node that serves others
        results = run_rounds({"registry": lambda: _run_storm(server, ids, clients=CLIENTS)}, count)["registry"]
    median = sorted(results, key=lambda result: result.seconds)[len(results) // 2]
    print_median("registry", results)
    assert median.requests == CLIENTS * REQUESTS_PER_CLIENT, "a client got no response"
    print_ratio(f"storm on {kind}, seconds", median.seconds, GOAL_STORM_SECONDS, at_most=True)
    print_ratio(f"storm on {kind}, errors", median.error_count, 0, at_most=True)


def _register_all(database: str, *, with_ids: bool = False) -> dict[str, bytes]:
    """Register one schema for each subject, on a node of its own; return their bodies, or their ids."""
    bodies = {f"storm-{number}-value": create_request_body(number, 9) for number in range(SUBJECTS)}
    with run_variant("registry", database) as server:
        ids = {subject: register_schema(server[0], subject, body) for subject, body in bodies.items()}
    return {subject: json.dumps(schema_id).encode() for subject, schema_id in ids.items()} if with_ids else bodies


def _run_storm(server: tuple[int, int], ids: dict[str, bytes], *, clients: int) -> LoadResult:
    return generate_load(*server, [_first_requests(number, ids) for number in range(clients)], _MAX_SECONDS)


def _first_requests(client: int, ids: dict[str, bytes]) -> Iterator[bytes]:
    number = client % SUBJECTS
    subject = f"storm-{number}-value"
    yield format_post(f"/subjects/{subject}/versions", create_request_body(number, 9))
    yield format_get(f"/schemas/ids/{ids[subject].decode()}?fetchMaxId=false&subject={subject}")
    yield format_get(f"/config/{subject}?defaultToGlobal=true")
    yield format_get(f"/associations/resources/-/storm-{number}?resourceType=topic&associationType=value")


def _allow_connections(number: int) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(number, hard)), hard))
