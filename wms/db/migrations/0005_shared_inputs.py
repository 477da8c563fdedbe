"""Store files that all jobs of a task get once, with the task."""

from alembic import op

revision = "wms0005"
down_revision = "wms0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("ALTER TABLE tasks ADD COLUMN shared_inputs jsonb")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN shared_inputs")
