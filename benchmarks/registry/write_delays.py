"""Delay of writes by long checks of other subjects.

    python benchmarks/registry/write_delays.py [--database-url sqlite:///FILE] [--seconds 10] [--checkers 1] [--check]

One process registers schemas under new subjects, first alone, then while other processes register schemas whose check
takes as long as possible: 700 branches, each compared with 700 others. A third process sends requests that need
neither a thread nor the database, which shows whether writes wait for the event loop or for later stages.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import httpx2

from support.registry import run_server
from support.slow_checks import create_many_branches

GOAL_SECONDS = 0.1  #: seconds by which a check may delay another subject's write
PAUSE_SECONDS = 0.005
Interval = tuple[float, float]  #: start and end


def register_schema(client: httpx2.Client, number: int) -> None:
    """Register a schema under a new subject."""
    client.post(f"/subjects/w{number}-{time.time_ns()}/versions", json={"schema": '"int"'}).raise_for_status()


def request_root(client: httpx2.Client, _index: int) -> None:
    """Send a request that the event loop answers without threads."""
    client.get("/").raise_for_status()


def register_slow_schema(client: httpx2.Client, number: int) -> None:
    """Register a schema whose check takes long and rejects it."""
    schema = create_many_branches(number + 1)
    response = client.post("/subjects/slow/versions", json={"schema": schema, "schemaType": "JSON"})
    assert response.is_client_error, response.text


def repeat_work(
    work: Callable[[httpx2.Client, int], None], url: str, print_distribution: Connection, pause: float
) -> None:
    """Repeat the work until a message arrives, then send the start and end of each repetition."""
    intervals: list[Interval] = []
    with httpx2.Client(base_url=url, timeout=60) as client:
        print_distribution.send("started")
        while not print_distribution.poll(pause):
            start_time = time.perf_counter()
            work(client, len(intervals))
            intervals.append((start_time, time.perf_counter()))
    print_distribution.send(intervals)


@contextmanager
def repeating(
    work: Callable[[httpx2.Client, int], None], url: str, pause: float = PAUSE_SECONDS
) -> Iterator[list[Interval]]:
    """Repeat the work in a process during the block; afterwards, the list that is yielded has the times."""
    parent_pipe, child_pipe = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=repeat_work, args=(work, url, child_pipe, pause))
    process.start()
    intervals: list[Interval] = []
    try:
        parent_pipe.recv()
        yield intervals
        parent_pipe.send("stop")
        intervals += parent_pipe.recv()
        process.join()
    finally:
        process.terminate()


def get_durations(intervals: list[Interval]) -> list[float]:
    """Return the durations of intervals, sorted."""
    return sorted(end - start for start, end in intervals)


def print_distribution(name: str, durations: list[float]) -> None:
    """Print a distribution."""
    if durations:
        percentiles = [durations[len(durations) * share // 100] * 1e3 for share in (50, 95, 99)]
        columns = " ".join(f"{milliseconds:8.1f}" for milliseconds in (*percentiles, durations[-1] * 1e3))
        print(f"{name:34} {len(durations):6} {columns}")


def main() -> int:
    """Measure and print; with ``--check``, return 1 if a write was delayed by more than the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--checkers", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="exit with 1 if writes are delayed by more than the goal")
    with tempfile.TemporaryDirectory() as folder:
        parser.add_argument("--database-url", default=f"sqlite:///{folder}/registry.db")
        arguments = parser.parse_args()
        with run_server(arguments.database_url) as url:
            with httpx2.Client(base_url=url, timeout=60) as client:
                first_schema = {"schema": create_many_branches(0), "schemaType": "JSON"}
                client.post("/subjects/slow/versions", json=first_schema).raise_for_status()
            with repeating(register_schema, url) as writes_alone:
                time.sleep(arguments.seconds / 2)
            with (
                repeating(register_schema, url) as writes,
                repeating(request_root, url) as root_requests,
                ExitStack() as stack,
            ):
                checks = [
                    stack.enter_context(repeating(register_slow_schema, url, 0.0)) for _ in range(arguments.checkers)
                ]
                time.sleep(arguments.seconds)
            newest_schema = httpx2.get(f"{url}/schemas?latestOnly=true&limit=1").content
        with run_server(arguments.database_url) as url:
            assert httpx2.get(f"{url}/schemas?latestOnly=true&limit=1").content == newest_schema
    print("level BACKWARD, 1 version per subject; full durability, metrics and request ids on, authentication off")
    print("a second process read the schemas that the first one wrote")
    check_intervals = [interval for intervals in checks for interval in intervals]
    overlapping_writes = [
        interval
        for interval in writes
        if any(began < interval[1] and interval[0] < ended for began, ended in check_intervals)
    ]
    print(f"{'milliseconds':34} {'':>6} {'p50':>8} {'p95':>8} {'p99':>8} {'max':>8}")
    print_distribution("checks", get_durations(check_intervals))
    print_distribution("writes alone", get_durations(writes_alone))
    print_distribution("writes beside checks", get_durations(overlapping_writes))
    print_distribution("event loop responses beside checks", get_durations(root_requests))
    durations_alone, durations_beside = get_durations(writes_alone), get_durations(overlapping_writes)
    for share in (50, 95, 99):
        delay = durations_beside[len(durations_beside) * share // 100] - durations_alone[len(durations_alone) // 2]
        verdict = "reached" if delay <= GOAL_SECONDS else "MISSED"
        print(f"-> delay of a write, p{share}: {delay * 1e3:.0f} ms  goal {GOAL_SECONDS * 1e3:.0f} ms  {verdict}")
    delays = [delay - durations_alone[len(durations_alone) // 2] for delay in durations_beside]
    late = sum(delay > GOAL_SECONDS for delay in delays) / len(delays)
    print(f"   {late:.2%} of {len(delays)} writes were delayed by more than that")
    return 1 if arguments.check and delays[len(delays) * 99 // 100] > GOAL_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
