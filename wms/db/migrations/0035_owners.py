"""Add owners of tasks."""

from alembic import op

revision = "wms0035"
down_revision = "wms0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE tasks
    -- The person that asked for the chain; null: it began by itself.
    ADD COLUMN owner text,
    -- Whose members see it and act on it.
    ADD COLUMN owner_group text NOT NULL DEFAULT 'everyone'
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN owner, DROP COLUMN owner_group")
