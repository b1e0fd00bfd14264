"""An older release works on a database that a newer one has migrated, unless that prohibits it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from contractlog.compatibility.errors import UsageError
from contractlog.registry.database import open_store
from contractlog.registry.settings import Settings
from contractlog.registry.storage.engines import parse_url

from support.registry import create_sqlite, in_process

RECORD = {"schema": json.dumps({"type": "record", "name": "R", "fields": []})}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def later_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that a later release has brought to its own tables, which only add to ours."""
    on_postgresql = request.param == "postgresql"
    url: str = request.getfixturevalue("upgraded_postgres_url") if on_postgresql else create_sqlite(tmp_path / "r.db")
    alter(
        url,
        "ALTER TABLE schemas ADD COLUMN of_tomorrow TEXT",
        "ALTER TABLE versions ADD COLUMN of_tomorrow INTEGER DEFAULT 7 NOT NULL",
        "CREATE TABLE of_tomorrow (id INTEGER PRIMARY KEY)",
        "UPDATE alembic_version SET version_num = '0099'",
    )
    return url


def alter(url: str, *statements: str) -> None:
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def test_a_database_to_which_a_later_release_added_is_served(later_database: str) -> None:
    with in_process(Settings(database_url=later_database)) as http:
        assert http.post("/subjects/s/versions", json=RECORD).json()["id"] == 1
        assert http.get("/schemas/ids/1").status_code == 200
        assert http.delete("/subjects/s").json() == [1]
        assert http.get("/healthz/ready").json() == {"status": "ready"}


def test_a_database_whose_tables_a_later_release_changed_is_refused(later_database: str) -> None:
    alter(later_database, "UPDATE marks SET sequence = 99 WHERE name = 'served-from'")
    with pytest.raises(UsageError, match=r"revision 0099.*start the later release"):
        open_store(Settings(database_url=later_database))
