"""Add the owners of data sets."""

from alembic import op

revision = "dms0010"
down_revision = "dms0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE datasets
    -- The person that made it; null: nobody that is known.
    ADD COLUMN owner text,
    -- Whose members see and change it.
    ADD COLUMN owner_group text NOT NULL DEFAULT 'everyone',
    -- Groups whose members see it, too.
    ADD COLUMN shared_with text[] NOT NULL DEFAULT '{}'
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute(
        "ALTER TABLE datasets DROP COLUMN owner, DROP COLUMN owner_group, DROP COLUMN shared_with"
    )
