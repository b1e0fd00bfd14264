"""Encryption keys: KEKs and DEKs. Code from before this revision does not use the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "keks",
        sa.Column("name", sa.String(256), nullable=False),
        sa.Column("kms_type", sa.Text(), nullable=False),
        sa.Column("kms_key_id", sa.Text(), nullable=False),
        sa.Column("kms_props", sa.Text(), nullable=True),
        sa.Column("doc", sa.Text(), nullable=True),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_keks"),
    )
    op.create_table(
        "deks",
        sa.Column("kek_name", sa.String(256), nullable=False),
        sa.Column("subject_key", sa.String(64), nullable=False),
        sa.Column("algorithm", sa.String(16), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("encrypted_key_material", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["kek_name"], ["keks.name"], name="fk_deks_kek_name_keks"),
        sa.PrimaryKeyConstraint("kek_name", "subject_key", "algorithm", "version", name="pk_deks"),
    )


def downgrade() -> None:
    op.drop_table("deks")
    op.drop_table("keks")
