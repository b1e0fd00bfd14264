"""How alembic runs here: on the connection it is handed, one at a time, never waiting for long on a busy table."""

from __future__ import annotations

from typing import Final

from alembic import context
from sqlalchemy import Connection, text

from contractlog.registry.storage import tables

LOCK_TIMEOUT_MS: Final = 10_000  #: unless it is handed another one
STATEMENT_TIMEOUT_MS: Final = 600_000  #: this one, too
ADVISORY_LOCK: Final = 7_211_968_011  #: any number that nobody else uses


def run(connection: Connection) -> None:
    """Run the migrations in one transaction; on PostgreSQL a second run waits for the first."""
    context.configure(connection=connection, target_metadata=tables.metadata, transactional_ddl=True)
    with context.begin_transaction():
        if connection.dialect.name == "postgresql":
            handed = context.config.attributes
            patience = int(handed.get("lock_timeout_ms") or LOCK_TIMEOUT_MS)
            longest = int(handed.get("statement_timeout_ms") or STATEMENT_TIMEOUT_MS)
            connection.execute(text(f"SET LOCAL lock_timeout = {patience}"))
            connection.execute(text(f"SET LOCAL statement_timeout = {longest}"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})
        context.run_migrations()


run(context.config.attributes["connection"])
