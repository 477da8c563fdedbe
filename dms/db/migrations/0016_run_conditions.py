"""Copy the conditions of a run into its data sets at their registration."""

from alembic import op

revision = "dms0016"
down_revision = "dms0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
-- A copy, so that reading a data set needs no join. Conditions of a run never change.
ALTER TABLE datasets ADD COLUMN conditions jsonb NOT NULL DEFAULT '{}'
"""
    )
    op.execute(
        """
UPDATE datasets AS d SET conditions = r.conditions FROM runs AS r
WHERE d.run = r.number AND r.conditions <> '{}'
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE datasets DROP COLUMN conditions")
