"""Let a task take over finished jobs of an earlier task with the same work."""

from alembic import op

revision = "wms0009"
down_revision = "wms0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("ALTER TABLE tasks ADD COLUMN taken_over jsonb")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN taken_over")
