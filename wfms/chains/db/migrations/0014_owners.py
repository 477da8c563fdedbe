"""Add the owner and the group of a chain."""

from alembic import op

revision = "wfms_chains0014"
down_revision = "wfms_chains0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE chains
    -- The person that asked for it; null: it began by itself.
    ADD COLUMN owner text,
    -- Whose members see it and act on it.
    ADD COLUMN owner_group text NOT NULL DEFAULT 'everyone'
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE chains DROP COLUMN owner, DROP COLUMN owner_group")
