"""Hashes that chain the entries of the change log, and the positions of webhooks in it.

Existing entries are chained after the migrations, as are entries that code from before this revision writes later: it
leaves the columns empty, and the next write of newer code fills them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("changes") as table:
        table.add_column(sa.Column("previous_hash", sa.String(64), nullable=True))
        table.add_column(sa.Column("hash", sa.String(64), nullable=True))
    op.create_table(
        "webhook_positions",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(32), nullable=False),
        sa.Column("held_until", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_webhook_positions"),
    )


def downgrade() -> None:
    op.drop_table("webhook_positions")
    with op.batch_alter_table("changes") as table:
        table.drop_column("hash")
        table.drop_column("previous_hash")
