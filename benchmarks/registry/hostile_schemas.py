"""Response times of hostile requests, and of concurrent reads by other callers.

    python benchmarks/registry/hostile_schemas.py [--database-url sqlite:///FILE]

Every schema of ``tests/support/hostile_schemas.py`` is registered, and a variant of it is checked against it. Then one
request contains as many schemas as fit into a body, each of which takes long to compare with the previous one, and
twelve such requests are sent by callers who hang up. Meanwhile, another process reads a version from the database every
few milliseconds. For a single schema, only reads concurrent with its requests are counted. The responses are tested in
``tests/integration/registry/test_hostile_schemas_over_http.py``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import httpx2

from support.hostile_requests import Request, send_hostile_requests
from support.hostile_schemas import HOSTILE
from support.registry import run_server
from support.slow_checks import create_many_branches

RESPONSE_GOAL, READ_GOAL = 2.0, 0.1  #: goals for one schema, in seconds
BATCH_CPU_GOAL, BATCH_READ_GOAL, IDLE_SECONDS = (
    10.0,
    0.3,
    2.0,
)  #: for many schemas: processor seconds, seconds of a read, idle seconds after hang-ups
MEMBERS, BRANCHES, HANG_UPS = 28, 150, 12
SETTINGS = "default settings: full durability, metrics, request ids and counts of fetches on, authentication off"
PAUSE_SECONDS = 0.005
PATH = "/subjects/neighbour/versions/1"
CHECK = "/contractlog/v1/check"
Interval = tuple[float, float]  #: start and end


def repeat_read(url: str, pipe: Connection) -> None:
    """Read until a message arrives, then send the start and end of each read."""
    intervals: list[Interval] = []
    with httpx2.Client(base_url=url, timeout=60) as client:
        while not pipe.poll(PAUSE_SECONDS):
            start_time = time.perf_counter()
            client.get(PATH).raise_for_status()
            intervals.append((start_time, time.perf_counter()))
    pipe.send(intervals)


@contextmanager
def reading(url: str) -> Iterator[list[Interval]]:
    """Read in a process during the block; afterwards, the list that is yielded has the reads."""
    parent_pipe, child_pipe = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=repeat_read, args=(url, child_pipe))
    process.start()
    intervals: list[Interval] = []
    try:
        yield intervals
        parent_pipe.send("stop")
        intervals += parent_pipe.recv()
        process.join()
    finally:
        process.terminate()


def measure_hostile_schemas(url: str) -> tuple[dict[str, list[Request]], list[Interval]]:
    """Send every hostile request while another process reads."""
    with httpx2.Client(base_url=url, timeout=60) as client:
        client.post("/subjects/neighbour/versions", json={"schema": '"int"'}).raise_for_status()
        with reading(url) as reads:
            time.sleep(1)
            requests_by_name = {name: list(send_hostile_requests(client, name)) for name in HOSTILE}
    return requests_by_name, reads


def create_batch() -> bytes:
    """Create the body of a request for many checks."""
    members = [
        {"subject": "many", "schemaType": "JSON", "schema": create_many_branches(number, BRANCHES)}
        for number in range(MEMBERS)
    ]
    return json.dumps({"schemas": members}).encode()


def read_processor_seconds(client: httpx2.Client) -> float:
    """Return the processor time that the server has used."""
    text = client.get("/metrics").text
    return float(next(line.split()[1] for line in text.splitlines() if line.startswith("process_cpu_seconds_total ")))


def send_and_hang_up(url: str, body: bytes) -> None:
    """Send a request, and disconnect before its response."""
    host, _, port = url.rpartition("//")[2].partition(":")
    head = f"POST {CHECK} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.encode() + body)
        time.sleep(0.3)


def measure_batches(url: str) -> tuple[float, float, list[Interval]]:
    """Send a request for many checks, then some that hang up.

    Return the processor seconds of the first request, those used after the hang-ups, and the concurrent reads.
    """
    body = create_batch()
    with httpx2.Client(base_url=url, timeout=120) as client, reading(url) as reads:
        time.sleep(1)
        cpu_before = read_processor_seconds(client)
        client.post(CHECK, content=body, headers={"Content-Type": "application/json"}).raise_for_status()
        cpu_used = read_processor_seconds(client) - cpu_before
        threads = [threading.Thread(target=send_and_hang_up, args=(url, body)) for _ in range(HANG_UPS)]
        for caller in threads:
            caller.start()
        for caller in threads:
            caller.join()
        time.sleep(IDLE_SECONDS)  # requests in flight may end
        cpu_before = read_processor_seconds(client)
        time.sleep(IDLE_SECONDS)
        cpu_after_hang_ups = read_processor_seconds(client) - cpu_before
    return cpu_used, cpu_after_hang_ups, reads


def print_verdict(name: str, figure: float, goal: float) -> bool:
    """Print a figure beside its goal, and return whether it was reached."""
    print(f"-> {name:58} {figure:7.3f} s  goal {goal} s  {'reached' if figure <= goal else 'MISSED'}")
    return figure <= goal


def main() -> int:
    """Measure and print; with ``--check``, return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    with tempfile.TemporaryDirectory() as folder:
        parser.add_argument("--database-url", default=f"sqlite:///{folder}/registry.db")
        parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
        arguments = parser.parse_args()
        database_url = arguments.database_url
        with run_server(database_url) as url:
            requests_by_name, reads = measure_hostile_schemas(url)
            stored_version = httpx2.get(url + PATH).content
        with run_server(f"sqlite:///{folder}/bought.db", CONTRACTLOG_CALLER_STEPS="0") as url:
            httpx2.post(url + "/subjects/neighbour/versions", json={"schema": '"int"'}).raise_for_status()
            cpu_used, cpu_after_hang_ups, batch_reads = measure_batches(url)
        with run_server(database_url) as url:
            assert httpx2.get(url + PATH).content == stored_version
    print(f"level BACKWARD, 1 version per subject of the neighbour; {SETTINGS}")
    print("a second process read the version that the first one wrote")
    print(f"{'hostile schema':58} {'request':10} {'response':>13} {'seconds':>8} {'slowest read beside':>20}")
    overlapping_reads: dict[Interval, float] = {}
    for name, requests in requests_by_name.items():
        for request in requests:
            end = request.start_time + request.seconds
            meanwhile = {read: read[1] - read[0] for read in reads if read[0] < end and read[1] > request.start_time}
            overlapping_reads |= meanwhile
            slowest = max(meanwhile.values(), default=0.0)
            status = " ".join(str(part) for part in request.summary if part is not None)
            print(f"{name:58} {request.action:10} {status:>13} {request.seconds:8.3f} {slowest:20.3f}")
    durations = sorted(overlapping_reads.values())
    slow_count = sum(duration > READ_GOAL for duration in durations)
    slowest = max(request.seconds for requests in requests_by_name.values() for request in requests)
    reached = [
        print_verdict("slowest response", slowest, RESPONSE_GOAL),
        print_verdict("slowest read of the neighbour", durations[-1], READ_GOAL),
        print_verdict(f"processor time of one request for {MEMBERS} checks", cpu_used, BATCH_CPU_GOAL),
        print_verdict(f"processor time after {HANG_UPS} such callers hung up", cpu_after_hang_ups, IDLE_SECONDS / 2),
        print_verdict(
            "slowest read of the neighbour meanwhile", max(end - began for began, end in batch_reads), BATCH_READ_GOAL
        ),
    ]
    slow_share = f"{slow_count} took longer ({slow_count / len(durations):.2%})"
    print(f"   of {len(durations)} reads beside hostile requests {slow_share};", end=" ")
    print(f"median {durations[len(durations) // 2]:.3f} s, 99 % within {durations[len(durations) * 99 // 100]:.3f} s")
    return 1 if arguments.check and not all(reached) else 0


if __name__ == "__main__":
    sys.exit(main())
