"""Add the counts that tools reported for the files of a data set."""

from alembic import op

revision = "dms0005"
down_revision = "dms0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE datasets
    -- Name -> sum over its files.
    ADD COLUMN counts jsonb NOT NULL DEFAULT '{}'
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE datasets DROP COLUMN counts")
