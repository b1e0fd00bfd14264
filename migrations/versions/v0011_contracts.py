"""Data contracts of topics. Code from before this revision uses neither the table nor the column."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "contracts",
        sa.Column("topic", sa.String(255), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("contract_version", sa.Text(), nullable=False),
        sa.Column("retires_on", sa.String(10), nullable=True),
        sa.Column("successor", sa.Text(), nullable=True),
        sa.Column("value_version", sa.Integer(), nullable=True),
        sa.Column("key_version", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("topic", "version", name="pk_contracts"),
    )
    with op.batch_alter_table("conformance") as conformance:
        conformance.add_column(sa.Column("contract_version", sa.Integer(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("conformance") as conformance:
        conformance.drop_column("contract_version")
    op.drop_table("contracts")
