"""Alembic environment: runs migrations on a given connection, one run at a time.

Locks and statements have timeouts, so that a busy table does not block it for long.
"""

from __future__ import annotations

from typing import Final

from alembic import context
from sqlalchemy import Connection, text

from contractlog.registry.storage import tables

LOCK_TIMEOUT_MS: Final = 10_000  #: default of ``lock_timeout_ms``
STATEMENT_TIMEOUT_MS: Final = 600_000  #: default of ``statement_timeout_ms``
ADVISORY_LOCK: Final = 7_211_968_011  #: any number that nothing else uses


def run(connection: Connection) -> None:
    """Run the migrations in one transaction; on PostgreSQL a second run waits for the first."""
    context.configure(connection=connection, target_metadata=tables.metadata, transactional_ddl=True)
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            handed = context.config.attributes
            lock_timeout_ms = int(handed.get("lock_timeout_ms") or LOCK_TIMEOUT_MS)
            statement_timeout_ms = int(handed.get("statement_timeout_ms") or STATEMENT_TIMEOUT_MS)
            connection.execute(text(f"SET LOCAL lock_timeout = {lock_timeout_ms}"))
            connection.execute(text(f"SET LOCAL statement_timeout = {statement_timeout_ms}"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        context.run_migrations()


run(context.config.attributes["connection"])
