"""The stored results of a part of a topic are limited in number and bytes; the oldest are removed."""

from __future__ import annotations

import pytest

from contractlog.registry.features.conformance import queries
from contractlog.registry.features.conformance.queries import AuditFigures, list_history, prune_part, record_result
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

FIGURES = AuditFigures("passing", 1, 0, None)


def publish(store: Store, *entries: str, topic: str = "t", part: str = "value") -> list[str]:
    """Publish results as the service does; return those that are stored, newest first."""
    for number, text in enumerate(entries):

        def work(change: Transaction, text: str = text, ranges: str = str(number)) -> None:
            record_result(change, topic, part, ranges=ranges, entry=text, figures=FIGURES)
            prune_part(change, topic, part, days=0)

        store.transact(work).result()
    with store.open_snapshot() as snapshot:
        return [stored.entry for stored in list_history(snapshot, topic, part, 100)]


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "MAX_RESULTS", 4)
    monkeypatch.setattr(queries, "MAX_RESULT_BYTES", 100)


def test_the_newest_results_are_stored_up_to_a_number(store: Store) -> None:
    assert publish(store, *"abcdef") == ["f", "e", "d", "c"]


def test_the_newest_results_are_stored_up_to_a_number_of_bytes(store: Store) -> None:
    assert publish(store, "a", "b" * 40, "c" * 50, "d" * 50) == ["d" * 50, "c" * 50]


def test_the_newest_result_stays_however_long_it_is(store: Store) -> None:
    assert publish(store, "a", "b", "c" * 101) == ["c" * 101]
    assert publish(store, "d") == ["d"]


def test_results_of_other_topics_and_parts_are_not_counted(store: Store) -> None:
    publish(store, "a" * 90)
    publish(store, "b" * 90, part="key")
    assert publish(store, "c" * 90, topic="u") == ["c" * 90]
    assert publish(store) == ["a" * 90]


def test_many_results_over_the_limit_are_removed_in_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(queries, "MAX_RESULTS", 20)
        publish(store, *"abcdefghij")
    monkeypatch.setattr(queries, "_BATCH", 4)
    assert publish(store, "k") == list("kjihgfe")
    assert publish(store, "l") == list("lkji")
