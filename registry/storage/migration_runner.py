"""Run migrations with alembic.

Importing alembic takes longer than most starts should: import this module only where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from alembic import command
from alembic.config import Config
from alembic.util import CommandError
from sqlalchemy import Connection

from contractlog.compatibility.errors import UsageError

__all__ = ["downgrade", "upgrade"]


def upgrade(connection: Connection, **limits: int | None) -> None:
    """Upgrade the tables to the newest revision.

    Args:
        connection: of the database.
        limits: ``lock_timeout_ms`` limits the wait for a table that another session has locked,
            ``statement_timeout_ms`` the duration of one statement; None, or absent, is the default in
            ``migrations/env.py``.

    Raises:
        UsageError: the tables have a revision that this release does not know.
    """
    with _translate_errors():
        command.upgrade(_config(connection, limits), "head")


def downgrade(connection: Connection, revision: str) -> None:
    """Downgrade the tables to a revision.

    Raises:
        UsageError: there is no such revision.
    """
    with _translate_errors():
        command.downgrade(_config(connection), revision)


@contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except CommandError as error:
        raise UsageError(f"{error}; `contractlog db current` shows the revision of the database") from error


def _config(connection: Connection, limits: Mapping[str, int | None] = MappingProxyType({})) -> Config:
    config = Config()
    config.set_main_option("script_location", "contractlog.migrations:")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    config.attributes.update(limits)
    return config
