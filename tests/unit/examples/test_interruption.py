from __future__ import annotations

import signal

import pytest

from interruption import InterruptionGuard


def test_an_interruption_waits_for_the_end_of_the_block() -> None:
    guard, seen = InterruptionGuard(), []

    def block() -> None:
        with guard:
            with guard:
                guard.handle_signal(signal.SIGINT, None)
            seen.append("went on")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert seen == ["went on"]
    with guard:
        """It is raised once."""


def test_outside_of_a_block_it_does_not_wait() -> None:
    with pytest.raises(KeyboardInterrupt):
        InterruptionGuard().handle_signal(signal.SIGINT, None)
