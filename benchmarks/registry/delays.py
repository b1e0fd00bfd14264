"""Delay of writes to other subjects while long checks run.

    python benchmarks/registry/delays.py [--database-url sqlite:///FILE] [--seconds 10] [--checkers 1] [--check]

A served registry; one process registers under subjects of its own, without and with processes that register schemas
whose check takes as long as possible: 700 branches, each compared with 700 others. A third process sends requests that
need neither a thread nor the database, which shows whether writes wait for the event loop or for later stages.
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

from support.registry import served
from support.slow_checks import many_branches

GOAL = 0.1  #: seconds by which a check may delay another subject's write
PAUSE = 0.005
Taken = tuple[float, float]  #: its beginning and its end


def write(client: httpx2.Client, number: int) -> None:
    """Register a schema under a subject of its own."""
    client.post(f"/subjects/w{number}-{time.time_ns()}/versions", json={"schema": '"int"'}).raise_for_status()


def look(client: httpx2.Client, _number: int) -> None:
    """Request a response that the event loop makes by itself."""
    client.get("/").raise_for_status()


def check(client: httpx2.Client, number: int) -> None:
    """Register a schema whose comparison takes long, and which is rejected."""
    schema = many_branches(number + 1)
    answer = client.post("/subjects/slow/versions", json={"schema": schema, "schemaType": "JSON"})
    assert answer.is_client_error, answer.text


def repeat(work: Callable[[httpx2.Client, int], None], url: str, told: Connection, pause: float) -> None:
    """Repeat the work until a message arrives, then send the beginning and end of each repetition."""
    taken: list[Taken] = []
    with httpx2.Client(base_url=url, timeout=60) as client:
        told.send("begun")
        while not told.poll(pause):
            began = time.perf_counter()
            work(client, len(taken))
            taken.append((began, time.perf_counter()))
    told.send(taken)


@contextmanager
def repeated(work: Callable[[httpx2.Client, int], None], url: str, pause: float = PAUSE) -> Iterator[list[Taken]]:
    """Repeat the work in a process beside the block; the list that is yielded has the times afterwards."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=repeat, args=(work, url, theirs, pause))
    process.start()
    taken: list[Taken] = []
    try:
        ours.recv()
        yield taken
        ours.send("enough")
        taken += ours.recv()
        process.join()
    finally:
        process.terminate()


def seconds(taken: list[Taken]) -> list[float]:
    """Return the durations, sorted."""
    return sorted(ended - began for began, ended in taken)


def told(name: str, taken: list[float]) -> None:
    """Print a distribution."""
    if taken:
        shown = [taken[len(taken) * share // 100] * 1e3 for share in (50, 95, 99)]
        print(f"{name:34} {len(taken):6} {shown[0]:8.1f} {shown[1]:8.1f} {shown[2]:8.1f} {taken[-1] * 1e3:8.1f}")


def main() -> int:
    """Measure and print; with ``--check``, return 1 if a write was delayed by more than the goal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--checkers", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="exit with 1 where a write was delayed for longer")
    with tempfile.TemporaryDirectory() as folder:
        parser.add_argument("--database-url", default=f"sqlite:///{folder}/registry.db")
        arguments = parser.parse_args()
        with served(arguments.database_url) as url:
            with httpx2.Client(base_url=url, timeout=60) as client:
                first = {"schema": many_branches(0), "schemaType": "JSON"}
                client.post("/subjects/slow/versions", json=first).raise_for_status()
            with repeated(write, url) as alone:
                time.sleep(arguments.seconds / 2)
            with repeated(write, url) as writes, repeated(look, url) as looks, ExitStack() as stack:
                checks = [stack.enter_context(repeated(check, url, 0.0)) for _ in range(arguments.checkers)]
                time.sleep(arguments.seconds)
            newest = httpx2.get(f"{url}/schemas?latestOnly=true&limit=1").content
        with served(arguments.database_url) as url:
            assert httpx2.get(f"{url}/schemas?latestOnly=true&limit=1").content == newest
    print("level BACKWARD, 1 version per subject; full durability, metrics and request ids on, authentication off")
    print("a second process read what the first one wrote")
    during = [one for each in checks for one in each]
    inside = [one for one in writes if any(began < one[1] and one[0] < ended for began, ended in during)]
    print(f"{'milliseconds':34} {'':>6} {'p50':>8} {'p95':>8} {'p99':>8} {'max':>8}")
    told("checks", seconds(during))
    told("writes alone", seconds(alone))
    told("writes beside checks", seconds(inside))
    told("answers of the event loop beside", seconds(looks))
    usual, beside = seconds(alone), seconds(inside)
    for share in (50, 95, 99):
        delay = beside[len(beside) * share // 100] - usual[len(usual) // 2]
        verdict = "reached" if delay <= GOAL else "MISSED"
        print(f"-> delay of a write, p{share}: {delay * 1e3:.0f} ms  goal {GOAL * 1e3:.0f} ms  {verdict}")
    delays = [one - usual[len(usual) // 2] for one in beside]
    print(f"   {sum(one > GOAL for one in delays) / len(delays):.2%} of {len(delays)} writes were later than that")
    return 1 if arguments.check and delays[len(delays) * 99 // 100] > GOAL else 0


if __name__ == "__main__":
    sys.exit(main())
