"""Figures of the newest audit of each part of a topic, and a mark of results with merged counts.

Code from before this revision can use the tables as well: it does not update the figures, so metrics of audits that it
stores are those of the audit before.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

FORMER_VERDICTS = {"keeps": "passing", "broken": "failing"}


def upgrade() -> None:
    with op.batch_alter_table("conformance") as table:
        table.add_column(sa.Column("daily", sa.Boolean(), nullable=False, server_default=sa.false()))
    summaries = op.create_table(
        "audit_summaries",
        sa.Column("topic", sa.String(255), nullable=False),
        sa.Column("part", sa.String(16), nullable=False),
        sa.Column("verdict", sa.String(16), nullable=False),
        sa.Column("conforming", sa.BigInteger(), nullable=False),
        sa.Column("violating", sa.BigInteger(), nullable=False),
        sa.Column("last_record_at", sa.BigInteger(), nullable=True),
        sa.Column("published_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("topic", "part", name="pk_audit_summaries"),
    )
    connection = op.get_bind()
    newest = sa.text("SELECT max(sequence) FROM conformance GROUP BY topic, part")
    for number in connection.execute(newest).scalars().all():
        row = connection.execute(
            sa.text("SELECT topic, part, entry, recorded_at FROM conformance WHERE sequence = :number"),
            {"number": number},
        ).one()
        figures = _find_figures(row.entry)
        if figures is not None:
            values = {"topic": row.topic, "part": row.part, "published_at": row.recorded_at}
            connection.execute(sa.insert(summaries).values(**values, **figures))


def _find_figures(text: str) -> dict[str, Any] | None:
    """Return the figures of an entry; None if it has none, which must not stop an upgrade."""
    try:
        entry = json.loads(text)
        verdict = entry["verdict"]
        schemas = list(entry["schemas"])
        conforming, violating = int(entry["conforming"]), int(entry["violating"])
    except (KeyError, TypeError, ValueError):
        return None
    return {
        "verdict": FORMER_VERDICTS.get(verdict, verdict),
        "conforming": conforming,
        "violating": violating,
        "last_record_at": max((at for at in map(_last_seen, schemas) if at is not None), default=None),
    }


def _last_seen(schema: Any) -> int | None:
    """Return the time of the last record with a schema; details of an entry were stored unverified."""
    try:
        return int(datetime.fromisoformat(schema["last_seen"]).timestamp() * 1000)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def downgrade() -> None:
    op.drop_table("audit_summaries")
    with op.batch_alter_table("conformance") as table:
        table.drop_column("daily")
