"""What a task's jobs need stands in one column, as a whole: a further property needs none of its
own.

An instance of the release before leaves it empty; what its tasks need stands in ``spec``.
"""

from alembic import op

revision = "wms0017"
down_revision = "wms0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE tasks ADD COLUMN needs jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE tasks DROP COLUMN needs")
