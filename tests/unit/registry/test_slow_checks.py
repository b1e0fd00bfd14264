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


def write(http: httpx2.Client, subject: str, schema: str, kind: str = "AVRO") -> tuple[int, float]:
    began = time.perf_counter()
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": schema, "schemaType": kind})
    return answer.status_code, time.perf_counter() - began


@pytest.mark.slow
def test_a_check_of_two_seconds_delays_another_subject_s_write_by_less_than_100_ms(tmp_path: object) -> None:
    with in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db")) as http:
        alone = [write(http, f"before-{number}", '"string"') for number in range(30)]
        count, took, meanwhile = 100, 0.0, []
        while took < 2.0:
            count = int(count * 1.5)
            assert write(http, f"slow-{count}", many_branches(count, 0), "JSON")[0] == 200
            found: list[tuple[int, float]] = []
            check = threading.Thread(
                target=lambda c=count, f=found: f.append(write(http, f"slow-{c}", many_branches(c, 1), "JSON"))
            )
            check.start()
            meanwhile = []
            while check.is_alive():
                meanwhile.append(write(http, f"meanwhile-{count}-{len(meanwhile)}", '"string"'))
            check.join()
            assert found[0][0] == 409
            took = found[0][1]
        usual = statistics.median(seconds for _, seconds in alone)
        delay = statistics.median(seconds for _, seconds in meanwhile) - usual
        assert {status for status, _ in meanwhile} == {200}
        assert len(meanwhile) > took / 0.5
        assert delay < 0.1  # the median: single writes also wait for whatever else the machine does
