"""Running migrations. Importing alembic takes longer than most starts need: import this where it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from contractlog.compatibility.errors import UsageError

__all__ = ["downgrade", "upgrade"]


def upgrade(connection: Connection, *, lock_timeout_ms: int | None = None) -> None:
    """Bring the tables to the newest revision; ``lock_timeout_ms`` is how long a table may be in other hands.

    Raises:
        UsageError: they are of a revision that this release does not know.
    """
    with _told():
        command.upgrade(_config(connection, lock_timeout_ms), "head")


def downgrade(connection: Connection, revision: str) -> None:
    """Take the tables back to a revision.

    Raises:
        UsageError: there is no such revision.
    """
    with _told():
        command.downgrade(_config(connection), revision)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except CommandError as error:
        raise UsageError(str(error)) from error


def _config(connection: Connection, lock_timeout_ms: int | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", "contractlog.migrations:")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes["lock_timeout_ms"] = lock_timeout_ms
    return config
