"""Lineage edges. Code from before this revision does not use the table."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "lineage_edges",
        sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("target_key", sa.String(64), nullable=False),
        sa.Column("target_namespace", sa.Text(), nullable=False),
        sa.Column("target_name", sa.Text(), nullable=False),
        sa.Column("target_topic", sa.String(255), nullable=True),
        sa.Column("target_field", sa.Text(), nullable=False),
        sa.Column("source_key", sa.String(64), nullable=False),
        sa.Column("source_namespace", sa.Text(), nullable=False),
        sa.Column("source_name", sa.Text(), nullable=False),
        sa.Column("source_topic", sa.String(255), nullable=True),
        sa.Column("source_field", sa.Text(), nullable=False),
        sa.Column("evidence", sa.String(16), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("directed", sa.Boolean(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("first_published_at", sa.BigInteger(), nullable=False),
        sa.Column("last_published_at", sa.BigInteger(), nullable=False),
        sa.Column("vanished_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("sequence", name="pk_lineage_edges"),
    )
    op.create_index("ix_lineage_edges_target_key", "lineage_edges", ["target_key", "vanished_at"])
    op.create_index("ix_lineage_edges_source_key", "lineage_edges", ["source_key", "vanished_at"])
    op.create_index("ix_lineage_edges_target_topic", "lineage_edges", ["target_topic"])
    op.create_index("ix_lineage_edges_source_topic", "lineage_edges", ["source_topic"])


def downgrade() -> None:
    op.drop_table("lineage_edges")
