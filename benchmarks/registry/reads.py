"""Reads by id and of the latest version, compared with bare ASGI applications."""

from __future__ import annotations

import itertools
import tempfile
from functools import partial
from pathlib import Path

from load_generator import format_get, generate_load
from report import print_median, print_ratio, run_rounds
from servers import run_variant
from workload import CONNECTIONS, VERSIONS_PER_SUBJECT, create_request_body, create_user, fetch, register_schema

PATHS = {
    "bare form": "/schemas/ids/1",
    "?subject=s": "/schemas/ids/1?subject=s",
    "?fetchMaxId=false&subject=": "/schemas/ids/1?fetchMaxId=false&subject=",
}
GOAL_BY_ID = 0.5
GOALS_LATEST = {"sqlite": 0.4, "postgresql": 0.8}
MIDDLEWARE = "metrics, request ids and counts of fetches on"


def compare_reads_by_id(database: str, durability: str, seconds: float, count: int) -> None:
    """Compare cached reads by id with a bare ASGI application."""
    print("\ncached GET /schemas/ids/{id}: level BACKWARD, 1 version per subject")
    print(f"{durability}; {MIDDLEWARE}, authentication by a users file; {CONNECTIONS} connections")
    with tempfile.TemporaryDirectory() as folder:
        file, authorization = create_user(Path(folder))
        header = f"Authorization: {authorization}\r\n"
        with run_variant("registry", database) as writing_server:
            register_schema(writing_server[0], "s", create_request_body(0, 9))
            stored_schema = fetch(writing_server[0], "/schemas/ids/1")
        with (
            run_variant("bare", "-") as bare_server,
            run_variant("registry", database, CONTRACTLOG_USERS_FILE=file) as our_server,
        ):
            assert fetch(our_server[0], "/schemas/ids/1", authorization) == stored_schema
            requests_by_name = {
                "bare ASGI application": (bare_server, format_get("/schemas/ids/1", header))
            }  # the same bytes
            requests_by_name |= {name: (our_server, format_get(path, header)) for name, path in PATHS.items()}
            runs = {
                name: partial(generate_load, *server, [itertools.repeat(request)] * CONNECTIONS, seconds)
                for name, (server, request) in requests_by_name.items()
            }
            results = run_rounds(runs, count)
    baseline = print_median("bare ASGI application", results["bare ASGI application"])
    for name in PATHS:
        print_ratio(
            name,
            baseline.microseconds_per_request / print_median(name, results[name]).microseconds_per_request,
            GOAL_BY_ID,
        )
    print("  a second process read the schemas that the first one wrote")


def compare_latest(kind: str, database: str, durability: str, seconds: float, count: int) -> None:
    """Compare versions/latest; on PostgreSQL, another node wrote what is read."""
    print(
        f"\nGET /subjects/{{s}}/versions/latest on {kind}: level BACKWARD, {VERSIONS_PER_SUBJECT} versions per subject"
    )
    print(f"{durability}; {MIDDLEWARE}, authentication off; {CONNECTIONS} connections")
    with run_variant("registry", database) as writing_server:
        for number in range(1, VERSIONS_PER_SUBJECT + 1):
            register_schema(writing_server[0], "latest", create_request_body(7, number))
        stored_version = fetch(writing_server[0], "/subjects/latest/versions/latest")
    with run_variant("bare", "-") as bare_server, run_variant("registry", database) as our_server:
        assert fetch(our_server[0], "/subjects/latest/versions/latest") == stored_version
        paths_by_name = {
            "bare ASGI application": (bare_server, "/x"),
            "registry": (our_server, "/subjects/latest/versions/latest"),
        }
        if kind == "postgresql":
            with run_variant("select", database) as select_server:
                paths_by_name["the same select behind bare ASGI"] = (select_server, paths_by_name["registry"][1])
                results = run_rounds(_runs(paths_by_name, seconds), count)
        else:
            results = run_rounds(_runs(paths_by_name, seconds), count)
    medians = {name: print_median(name, measurements) for name, measurements in results.items()}
    baseline = medians.get("the same select behind bare ASGI", medians["bare ASGI application"])
    print_ratio(
        f"latest on {kind}",
        baseline.microseconds_per_request / medians["registry"].microseconds_per_request,
        GOALS_LATEST[kind],
    )
    print("  a second process read the schemas that the first one wrote")


def _runs(paths_by_name: dict, seconds: float) -> dict:
    return {
        name: partial(generate_load, *server, [itertools.repeat(format_get(path))] * CONNECTIONS, seconds)
        for name, (server, path) in paths_by_name.items()
    }
