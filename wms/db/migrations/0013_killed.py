"""Store how many jobs of a task were killed."""

from alembic import op

revision = "wms0013"
down_revision = "wms0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE tasks
    -- Of the canceled jobs those that a pilot had when the task ended.
    ADD COLUMN killed bigint NOT NULL DEFAULT 0
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN killed")
