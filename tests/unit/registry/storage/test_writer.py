"""The writer responds to every caller, whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from contractlog.compatibility.errors import StoreError
from contractlog.registry.storage.writer import Writer


def test_waiting_writes_are_committed_together() -> None:
    batches: list[list[int]] = []
    gate = threading.Event()

    def commit(batch: Sequence[int]) -> Sequence[int]:
        assert gate.wait(30)
        batches.append(list(batch))
        return batch

    writer = Writer(commit, limit=1_000)
    answers = [writer.submit(number) for number in range(300)]
    gate.set()
    assert [answer.result(30) for answer in answers] == list(range(300))
    writer.close()
    assert [number for batch in batches for number in batch] == list(range(300))
    assert len(batches) <= 3


def test_a_commit_that_breaks_down_is_told_to_all_who_wait() -> None:
    def commit(batch: Sequence[int]) -> Sequence[int]:
        raise ZeroDivisionError

    writer = Writer(commit, limit=10)
    assert isinstance(writer.submit(1).exception(30), ZeroDivisionError)
    assert isinstance(writer.submit(2).exception(30), ZeroDivisionError)
    writer.close()


def test_closing_commits_what_waits_and_refuses_the_rest() -> None:
    writer = Writer(lambda batch: batch, limit=10)
    answers = [writer.submit(number) for number in range(5)]
    writer.close()
    assert [answer.result(0) for answer in answers] == list(range(5))
    with pytest.raises(StoreError):
        writer.submit(6)


def test_a_write_that_nobody_waits_for_any_more_is_left_out() -> None:
    gate, done = threading.Event(), []

    def commit(batch: Sequence[int]) -> Sequence[int]:
        assert gate.wait(30)
        done.extend(batch)
        return batch

    writer = Writer(commit, limit=10)
    first = writer.submit(1)
    while not first.running():
        pass
    writer.submit(2).cancel()
    gate.set()
    writer.close()
    assert done == [1]
