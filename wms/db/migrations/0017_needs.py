"""Store the needs of a task's jobs in one column, so that new properties need no column.

An instance of the previous release leaves the column empty; the needs of its tasks are in ``spec``.
"""

from alembic import op

revision = "wms0017"
down_revision = "wms0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("ALTER TABLE tasks ADD COLUMN needs jsonb")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN needs")
