"""Config member ``strictJsonSchemas``, and canonical forms of JSON texts without negative zero.

The latter needs no statement here: schemas hashed from an older canonical form are rehashed after the migrations. Code
from before this revision does not see the column, and clears it when it changes a setting of the same scope.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COLUMN = "strict_json_schemas"


def upgrade() -> None:
    with op.batch_alter_table("settings") as table:
        table.add_column(sa.Column(COLUMN, sa.Boolean(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("settings") as table:
        table.drop_column(COLUMN)
