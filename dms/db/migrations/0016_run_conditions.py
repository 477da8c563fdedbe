"""The conditions of a data set's run, copied when the data set is registered."""

from alembic import op

revision = "dms0016"
down_revision = "dms0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
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
    op.execute("ALTER TABLE datasets DROP COLUMN conditions")
