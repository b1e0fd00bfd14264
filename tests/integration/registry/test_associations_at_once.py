"""Two nodes on one PostgreSQL change the same associations concurrently; all laws hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

from contractlog.registry.settings import Settings

from support.association_requests import Request, check_laws, requests, send_request
from support.registry import in_process

pytestmark = pytest.mark.integration

_ROUNDS, _EACH = 12, 6


def drawn(seed: int, count: int) -> list[Request]:
    """Draw requests that depend on the seed alone: the last of a few lists, because the first is the simplest."""
    found: list[Request] = []

    @settings(max_examples=4, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(requests, min_size=count, max_size=count))
    def draw(asked: list[Request]) -> None:
        found[:] = asked

    seeded(seed)(draw)()
    return found


def test_concurrent_requests_keep_the_laws(upgraded_postgres_url: str) -> None:
    given_ = Settings(database_url=upgraded_postgres_url)
    bound, refused = 0, 0
    with in_process(given_) as one, in_process(given_) as other, ThreadPoolExecutor(8) as threads:
        for node in (one, other):
            check_laws(node)  # an app builds its routes at its first request, and two must not do so at once
        for number in range(_ROUNDS):
            asked = drawn(number, _EACH * 8)
            nodes = [one, other] * (len(asked) // 2)
            statuses = list(threads.map(send_request, nodes, asked))
            refused += sum(status >= 400 for status in statuses)
            bound += check_laws(one)
            assert check_laws(other) == check_laws(one)
    assert bound > _ROUNDS // 2, f"hardly anything was ever bound: {bound} associations seen"
    assert refused > _ROUNDS, f"hardly anything was ever refused: {refused} of {_ROUNDS * _EACH * 8} requests"
