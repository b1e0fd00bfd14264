"""Append-only audit results: a corrected one is a new row, and the newest row of a range is valid.

Code from before this revision can use the table as well: it reads the newest row and corrects in place.
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

COLUMNS = ["topic", "part", "ranges"]
UNIQUE = "uq_conformance_topic_part_ranges"
INDEX = "ix_conformance_topic_part_ranges"


def upgrade() -> None:
    with op.batch_alter_table("conformance") as table:  # SQLite drops a constraint by copying the table
        table.drop_constraint(UNIQUE, type_="unique")
        table.create_index(INDEX, COLUMNS)


def downgrade() -> None:
    op.execute(
        "DELETE FROM conformance WHERE sequence NOT IN"
        " (SELECT max(sequence) FROM conformance GROUP BY topic, part, ranges)"
    )
    with op.batch_alter_table("conformance") as table:
        table.drop_index(INDEX)
        table.create_unique_constraint(UNIQUE, COLUMNS)
