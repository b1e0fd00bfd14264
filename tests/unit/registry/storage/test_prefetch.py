"""Tests of prefetched snapshots."""

from __future__ import annotations

import pytest

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage.prefetch import NotPrefetched, PrefetchedSnapshot, _LiveVersions
from contractlog.registry.storage.store_values import SubjectState

ORDERS = Subject(".", "orders")


def test_a_snapshot_without_a_connection_tells_that_a_query_was_not_prefetched() -> None:
    with pytest.raises(NotPrefetched):
        PrefetchedSnapshot(ORDERS, {}, SubjectState(), 0, _LiveVersions()).history(ORDERS)
