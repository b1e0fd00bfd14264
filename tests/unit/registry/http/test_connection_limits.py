"""Connections are limited in all and per address, and refusals are logged once a minute."""

from __future__ import annotations

import logging
import resource

import pytest

from contractlog.registry.http.connection_limits import ConnectionLimits, raise_descriptor_limit


def test_an_address_has_half_of_the_connections_and_some_descriptors_are_left() -> None:
    limits = ConnectionLimits(1_000)
    assert (limits.maximum, limits.maximum_per_address) == (750, 375)
    assert [limits.enter("10.0.0.1") for _ in range(376)] == [True] * 375 + [False]
    assert limits.enter("10.0.0.2")
    limits.leave("10.0.0.1")
    assert limits.enter("10.0.0.1")
    assert [limits.enter(f"10.0.1.{number % 200}") for number in range(375)].count(True) == 750 - 376


def test_refusals_are_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    limits = ConnectionLimits(4, clock=lambda: now)
    with caplog.at_level(logging.WARNING):
        assert limits.enter("10.0.0.1")
        assert not any(limits.enter("10.0.0.1") for _ in range(9))
        assert len(caplog.records) == 1
        assert "raise its hard limit on open files" in caplog.text
        now = 61.0
        assert not limits.enter("10.0.0.1")
        assert len(caplog.records) == 2


def test_the_soft_limit_on_open_files_is_raised_to_the_hard_one() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lower = min(before[0], before[1], 900) if before[1] != resource.RLIM_INFINITY else 900
    resource.setrlimit(resource.RLIMIT_NOFILE, (lower, before[1]))
    try:
        limit = raise_descriptor_limit()
        assert limit == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert limit == before[1] or before[1] == resource.RLIM_INFINITY
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
