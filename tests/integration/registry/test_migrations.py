"""Migrations create the tables that the code expects, and remove them again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect, select

from contractlog.compatibility.errors import Unreachable, UsageError
from contractlog.registry.database import current_revision, downgrade, newest_revision, open_store, upgrade
from contractlog.registry.settings import Settings
from contractlog.registry.storage import tables
from contractlog.registry.storage.engines import open_engines, parse_url


@pytest.fixture(params=["sqlite", "postgres_url", "oldest_postgres_url"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param != "sqlite":
        url: str = request.getfixturevalue(request.param)
        return url
    return f"sqlite:///{tmp_path / 'registry.db'}"


def test_migrations_make_exactly_the_tables_of_the_code(database: str) -> None:
    upgrade(database)
    engines = open_engines(parse_url(database))
    with engines.writer.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, tables.metadata) == []
        assert [tuple(row) for row in connection.execute(select(tables.contexts))] == [(".", 1, None)]
    engines.dispose()


def test_migrations_go_up_and_down_and_up_again(database: str) -> None:
    assert current_revision(database)[0] is None
    assert upgrade(database) == upgrade(database) == current_revision(database)[1]
    assert downgrade(database, "base") is None
    engines = open_engines(parse_url(database))
    with engines.writer.begin() as connection:
        assert inspect(connection).get_table_names() == ["alembic_version"]
    engines.dispose()
    assert upgrade(database) == current_revision(database)[0]


def test_going_back_keeps_the_newest_audit_of_each_range(database: str) -> None:
    def audits() -> list[tuple[str, str]]:
        engines = open_engines(parse_url(database))
        with engines.readers.begin() as connection:
            rows = connection.execute(select(c.ranges, c.entry).order_by(c.sequence)).all()
        engines.dispose()
        return [(row.ranges, row.entry) for row in rows]

    c = tables.conformance.c
    upgrade(database)
    engines = open_engines(parse_url(database))
    told = [("r1", "one"), ("r2", "two"), ("r1", "one, corrected")]
    with engines.writer.begin() as connection:
        for ranges, entry in told:
            row = {"topic": "t", "part": "value", "ranges": ranges, "entry": entry, "recorded_at": 1}
            connection.execute(insert(tables.conformance).values(**row))
    engines.dispose()
    downgrade(database, "0001")
    assert audits() == told[1:]
    upgrade(database)
    assert audits() == told[1:]


def test_a_downgrade_to_nowhere_is_a_usage_error(database: str) -> None:
    upgrade(database)
    with pytest.raises(UsageError):
        downgrade(database, "nowhere")


def test_the_newest_file_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "contractlog.migrations:")
    config.set_main_option("path_separator", "os")
    assert newest_revision() == ScriptDirectory.from_config(config).get_current_head()


def test_tables_that_only_a_later_release_can_serve_are_a_usage_error(database: str) -> None:
    upgrade(database)
    engines = open_engines(parse_url(database))
    with engines.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        connection.exec_driver_sql("UPDATE marks SET sequence = 9999 WHERE name = 'served-from'")
    engines.dispose()
    with pytest.raises(UsageError, match="9999"):
        open_store(Settings(database_url=database))
    with pytest.raises(UsageError, match="9999"):
        upgrade(database)


def test_opening_a_database_that_is_current_needs_no_alembic(database: str) -> None:
    upgrade(database)
    script = (
        "import sys; from contractlog.registry.app import create_app;"
        "from contractlog.registry.settings import Settings;"
        f"create_app(Settings(database_url={database!r})).state.close(); assert 'alembic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_serving_a_postgresql_that_is_behind_says_what_to_run(postgres_url: str) -> None:
    with pytest.raises(UsageError, match="contractlog db upgrade"):
        open_store(Settings(database_url=postgres_url))
    upgrade(postgres_url.replace("postgresql://", "postgresql+psycopg://"))
    open_store(Settings(database_url=postgres_url)).close()


def test_a_database_that_is_not_there_is_unreachable_and_its_password_stays_secret() -> None:
    with pytest.raises(Unreachable) as caught:
        open_store(Settings(database_url="postgresql://me:secret@127.0.0.1:1/x"))
    assert "secret" not in str(caught.value)
    assert "127.0.0.1:1" in str(caught.value)
    with pytest.raises((UsageError, Unreachable)):
        open_store(Settings(database_url="sqlite:////nowhere/at/all.db"))


@pytest.mark.parametrize("url", ["", "nonsense", "mysql://x/y", "sqlite+aiosqlite:///x"])
def test_an_invalid_database_url_is_a_usage_error(url: str) -> None:
    if url.startswith("sqlite+"):
        assert parse_url(url).drivername == "sqlite"
    else:
        with pytest.raises(UsageError):
            parse_url(url)
