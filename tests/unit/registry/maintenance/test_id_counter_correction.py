"""Warnings about id counters, after a restored backup or without a response."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from contractlog.compatibility.errors import UsageError
from contractlog.registry.database import open_store, upgrade
from contractlog.registry.maintenance.id_counter_correction import counter_warnings, raise_ids
from contractlog.registry.settings import Settings
from contractlog.registry.storage.contexts import list_contexts


def test_a_store_that_fails_is_one_more_warning_and_no_end(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    store = open_store(Settings(database_url=url))
    assert list(counter_warnings(store)) == []
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE contexts RENAME TO away"))
    engine.dispose()
    (warning,) = counter_warnings(store)
    store.close()
    assert warning.startswith("id counters were not checked against the ids in use: Error in the backend")


def test_a_context_that_is_not_there_is_a_slip_unless_it_is_to_be_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    upgrade(url)
    with pytest.raises(UsageError, match=r"no context `.stagng`, there are: .*pass --create"):
        raise_ids(url, ".stagng", 80)
    with pytest.raises(UsageError, match="starts with a dot"):
        raise_ids(url, "staging", 80, create=True)
    assert raise_ids(url, ".staging", 80, create=True) == 81
    assert raise_ids(url, ".staging", 90) == 91
    assert raise_ids(url, ".", 5) == 6
    store = open_store(Settings(database_url=url))
    with store.open_snapshot() as snapshot:
        assert set(list_contexts(snapshot)) <= {".", ".staging"}
    store.close()
