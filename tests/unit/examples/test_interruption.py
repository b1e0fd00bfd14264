from __future__ import annotations

import signal

import pytest
from interruption import Held


def test_an_interruption_waits_for_the_end_of_the_block() -> None:
    held, seen = Held(), []

    def block() -> None:
        with held:
            with held:
                held.note(signal.SIGINT, None)
            seen.append("went on")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert seen == ["went on"]
    with held:
        """It is raised once."""


def test_outside_of_a_block_it_does_not_wait() -> None:
    with pytest.raises(KeyboardInterrupt):
        Held().note(signal.SIGINT, None)
