"""Change requests and waivers. Code from before this revision does not use the tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "change_requests",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("subject_key", sa.String(64), nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("proposal", sa.Text(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=True),
        sa.Column("base", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_change_requests"),
    )
    op.create_index("ix_change_requests_subject_key", "change_requests", ["subject_key"])
    op.create_index("ix_change_requests_status", "change_requests", ["status"])
    op.create_table(
        "change_request_approvals",
        sa.Column("request_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("approver", sa.String(256), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["change_requests.id"], name="fk_change_request_approvals_request_id_change_requests"
        ),
        sa.PrimaryKeyConstraint("request_id", "approver", name="pk_change_request_approvals"),
    )
    op.create_table(
        "change_request_comments",
        sa.Column("request_id", _NUMBER, autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"], ["change_requests.id"], name="fk_change_request_comments_request_id_change_requests"
        ),
        sa.PrimaryKeyConstraint("request_id", "number", name="pk_change_request_comments"),
    )
    op.create_table(
        "waivers",
        sa.Column("id", _NUMBER, nullable=False),
        sa.Column("subject_key", sa.String(64), nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("grantee", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("request_id", _NUMBER, nullable=False),
        sa.Column("granted_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["request_id"], ["change_requests.id"], name="fk_waivers_request_id_change_requests"),
        sa.PrimaryKeyConstraint("id", name="pk_waivers"),
    )
    op.create_index("ix_waivers_subject_key", "waivers", ["subject_key"])


def downgrade() -> None:
    for table in ("waivers", "change_request_comments", "change_request_approvals", "change_requests"):
        op.drop_table(table)
