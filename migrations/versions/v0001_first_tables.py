"""The tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    contexts = op.create_table(
        "contexts",
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("next_schema_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_contexts"),
    )
    op.bulk_insert(contexts, [{"name": ".", "next_schema_id": 1}])
    op.create_table(
        "subjects",
        sa.Column("id", NUMBER, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_subjects"),
        sa.UniqueConstraint("key", name="uq_subjects_key"),
    )
    op.create_table(
        "schemas",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("normalized_hash", sa.String(64), nullable=False),
        sa.Column("guid", sa.String(36), nullable=False),
        sa.Column("type", sa.String(16), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("submitted", sa.Text(), nullable=True),
        sa.Column("references", sa.Text(), nullable=True),
        sa.Column("metadata", sa.Text(), nullable=True),
        sa.Column("rule_set", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("context", "id", name="pk_schemas"),
    )
    op.create_index("ix_schemas_guid", "schemas", ["guid"])
    op.create_table(
        "contents",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("context", "hash", name="pk_contents"),
    )
    op.create_index("ix_contents_context_schema_id", "contents", ["context", "schema_id"])
    op.create_table(
        "retired",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("context", "schema_id", name="pk_retired"),
    )
    op.create_table(
        "versions",
        sa.Column("subject_id", NUMBER, nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("deleted_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("subject_id", "version", name="pk_versions"),
        sa.ForeignKeyConstraint(["subject_id"], ["subjects.id"], name="fk_versions_subject_id_subjects"),
    )
    op.create_index("ix_versions_context_schema_id", "versions", ["context", "schema_id"])
    op.create_table(
        "schema_references",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("target_subject_id", NUMBER, nullable=False),
        sa.Column("target_version", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint(
            "context", "schema_id", "target_subject_id", "target_version", name="pk_schema_references"
        ),
        sa.ForeignKeyConstraint(
            ["target_subject_id"], ["subjects.id"], name="fk_schema_references_target_subject_id_subjects"
        ),
    )
    op.create_index("ix_schema_references_target", "schema_references", ["target_subject_id", "target_version"])
    op.create_table(
        "settings",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("level", sa.String(32), nullable=True),
        sa.Column("normalize", sa.Boolean(), nullable=True),
        sa.Column("compatibility_group", sa.Text(), nullable=True),
        sa.Column("mode", sa.String(32), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_settings"),
    )
    op.create_table(
        "changes",
        sa.Column("sequence", NUMBER, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("before", sa.String(64), nullable=True),
        sa.Column("after", sa.String(64), nullable=True),
        sa.PrimaryKeyConstraint("sequence", name="pk_changes"),
    )
    op.create_table(
        "conformance",
        sa.Column("sequence", NUMBER, nullable=False),
        sa.Column("topic", sa.String(255), nullable=False),
        sa.Column("part", sa.String(16), nullable=False),
        sa.Column("ranges", sa.String(64), nullable=False),
        sa.Column("entry", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_conformance"),
        sa.UniqueConstraint("topic", "part", "ranges", name="uq_conformance_topic_part_ranges"),
    )


def downgrade() -> None:
    for table in (
        "conformance",
        "changes",
        "settings",
        "schema_references",
        "versions",
        "retired",
        "contents",
        "schemas",
        "subjects",
        "contexts",
    ):
        op.drop_table(table)
