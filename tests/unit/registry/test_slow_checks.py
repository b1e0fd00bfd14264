"""A check that takes seconds delays nobody else's write."""

from __future__ import annotations

import json
import statistics
import threading
import time

import httpx2
import pytest

from contractlog.registry.settings import Settings

from support.registry import in_process

BRANCHES = 700


def many_branches(count: int, version: int) -> str:
    """A schema whose every branch has to be compared with every branch of another version."""
    branches = [
        {
            "type": "object",
            "properties": {f"p{number}_{place}_{version}": {"type": "string"} for place in range(4)},
            "required": [f"p{number}_0_{version}"],
        }
        for number in range(count)
    ]
    return json.dumps({"anyOf": branches})


Written = tuple[int, float, float]  #: status, began, ended


def write(http: httpx2.Client, subject: str, schema: str, kind: str = "AVRO") -> Written:
    began = time.perf_counter()
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": schema, "schemaType": kind})
    return answer.status_code, began, time.perf_counter()


@pytest.mark.slow
def test_a_check_that_takes_long_delays_nobody_else_s_write(tmp_path: object) -> None:
    with in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db")) as http:
        usual = statistics.median(
            ended - began for _, began, ended in (write(http, f"b{n}", '"int"') for n in range(30))
        )
        assert write(http, "slow", many_branches(BRANCHES, 0), "JSON")[0] == 200
        checks: list[Written] = []

        def check_on() -> None:
            until = time.perf_counter() + 2.0
            while time.perf_counter() < until:
                checks.append(write(http, "slow", many_branches(BRANCHES, len(checks) + 1), "JSON"))

        checking = threading.Thread(target=check_on)
        checking.start()
        writes: list[Written] = []
        while checking.is_alive():
            writes.append(write(http, f"w{len(writes)}", '"int"'))
        checking.join()
    assert {status for status, _, _ in checks} == {409}
    assert {status for status, _, _ in writes} == {200}
    inside = [one for one in writes if any(check[1] < one[1] and one[2] < check[2] for check in checks)]
    assert len(inside) >= len(checks)  # none of them waited for the end of a check
    delay = statistics.median(ended - began for _, began, ended in writes) - usual
    longest = max(ended - began for _, began, ended in checks)
    print(f"checks of up to {longest:.2f} s, {len(inside)} writes inside them, {delay * 1e3:.0f} ms later (median)")  # noqa: T201 - what was measured
