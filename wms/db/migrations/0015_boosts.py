"""Add temporary boosts of ranks."""

from alembic import op

revision = "wms0015"
down_revision = "wms0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE tasks
    -- What is added to the base rank for now, and why. A rank that a person has set is left alone.
    ADD COLUMN boost double precision NOT NULL DEFAULT 0,
    ADD COLUMN boost_reason text NOT NULL DEFAULT '',
    ADD COLUMN ranked_by_hand boolean NOT NULL DEFAULT false
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute(
        "ALTER TABLE tasks DROP COLUMN ranked_by_hand, DROP COLUMN boost_reason, DROP COLUMN boost"
    )
