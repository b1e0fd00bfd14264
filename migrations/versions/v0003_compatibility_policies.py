"""Settings for the compatibility policy of JSON schemas: the reference's two, and one of our own.

Code from before this revision does not see the columns, and clears them when it changes a setting of the same scope.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COLUMNS = ("compatibility_policy", "own_policy")


def upgrade() -> None:
    with op.batch_alter_table("settings") as table:
        for column in COLUMNS:
            table.add_column(sa.Column(column, sa.String(32), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("settings") as table:
        for column in COLUMNS:
            table.drop_column(column)
