"""The counters' warnings: about a database that came from a backup, and about one that does not answer."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import create_engine, text

from contractlog.registry.database import open_store
from contractlog.registry.moving.counters import warnings
from contractlog.registry.settings import Settings


def test_a_store_that_fails_is_one_more_warning_and_no_end(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'r.db'}"
    store = open_store(Settings(database_url=url))
    assert list(warnings(store)) == []
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE contexts RENAME TO away"))
    engine.dispose()
    (warning,) = warnings(store)
    store.close()
    assert warning.startswith("whether every counter is above the ids in use was not looked at: Error in the backend")
