"""Tables for the reference's whole API: all settings, associations, journal, search, fetch counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SETTINGS = {
    "alias": sa.Text,
    "alias_for_deks": sa.Text,
    "validate_fields": sa.Boolean,
    "validate_new_schemas": sa.Boolean,
    "validate_rules": sa.Boolean,
    "default_metadata": sa.Text,
    "override_metadata": sa.Text,
    "default_rule_set": sa.Text,
    "override_rule_set": sa.Text,
}


def upgrade() -> None:
    with op.batch_alter_table("settings") as table:
        for name, kind in SETTINGS.items():
            table.add_column(sa.Column(name, kind(), nullable=True))
    with op.batch_alter_table("schemas") as table:
        table.add_column(sa.Column("canonical_form", sa.Integer(), nullable=False, server_default=sa.text("1")))
        table.add_column(sa.Column("verbatim", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("contexts") as table:
        table.add_column(sa.Column("deleted_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_schemas_context_hash", "schemas", ["context", "hash"])
    op.create_index("ix_schemas_context_normalized_hash", "schemas", ["context", "normalized_hash"])
    with op.batch_alter_table("changes") as table:
        table.add_column(sa.Column("details", sa.Text(), nullable=True))
    with op.batch_alter_table("retired") as table:
        table.add_column(sa.Column("hash", sa.String(64), nullable=True))
    _journal()
    _associations()
    _search()
    op.create_table(
        "fetches",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("client", sa.String(128), nullable=False),
        sa.Column("day", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("context", "schema_id", "client", "day", name="pk_fetches"),
    )
    op.create_index("ix_fetches_day", "fetches", ["day"])


def _journal() -> None:
    op.create_table(
        "journal",
        sa.Column("name", sa.String(16), nullable=False),
        sa.Column("next_sequence", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_journal"),
    )
    op.execute(
        "INSERT INTO journal (name, next_sequence) SELECT 'changes', COALESCE(MAX(sequence), 0) + 1 FROM changes"
    )
    op.create_table(
        "marks",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_marks"),
    )


def _associations() -> None:
    op.create_table(
        "associations",
        sa.Column("guid", sa.String(36), nullable=False),
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("subject_key", sa.String(64), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("resource_id", sa.String(256), nullable=False),
        sa.Column("resource_name", sa.String(256), nullable=False),
        sa.Column("resource_namespace", sa.String(256), nullable=False),
        sa.Column("resource_type", sa.String(64), nullable=False),
        sa.Column("association_type", sa.String(64), nullable=False),
        sa.Column("lifecycle", sa.String(16), nullable=False),
        sa.Column("frozen", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("guid", name="pk_associations"),
    )
    op.create_index("ix_associations_subject_key", "associations", ["subject_key"])
    op.create_index("ix_associations_resource_id", "associations", ["resource_id", "resource_type", "association_type"])
    op.create_index("ix_associations_resource_name", "associations", ["resource_name", "resource_namespace"])


def _search() -> None:
    op.create_table(
        "search_terms",
        sa.Column("context", sa.String(255), nullable=False),
        sa.Column("schema_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("folded", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("context", "schema_id", "position", name="pk_search_terms"),
    )
    op.create_index(
        "ix_search_terms_kind_folded", "search_terms", ["kind", "folded", "context", "schema_id", "position"]
    )


def downgrade() -> None:
    for table in ("fetches", "search_terms", "associations", "marks", "journal"):
        op.drop_table(table)
    with op.batch_alter_table("changes") as changes:
        changes.drop_column("details")
    with op.batch_alter_table("contexts") as contexts:
        contexts.drop_column("deleted_at")
    with op.batch_alter_table("retired") as retired:
        retired.drop_column("hash")
    op.drop_index("ix_schemas_context_normalized_hash", "schemas")
    op.drop_index("ix_schemas_context_hash", "schemas")
    with op.batch_alter_table("schemas") as schemas:
        schemas.drop_column("verbatim")
        schemas.drop_column("canonical_form")
    with op.batch_alter_table("settings") as settings:
        for name in SETTINGS:
            settings.drop_column(name)
