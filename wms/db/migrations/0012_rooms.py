"""Add reservations of pilots until a large job fits."""

from alembic import op

revision = "wms0012"
down_revision = "wms0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE tasks
    -- The pilot that gets nothing of lower rank until a job of this task fits it, and until when.
    ADD COLUMN kept_by uuid,
    ADD COLUMN kept_until timestamptz
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN kept_until, DROP COLUMN kept_by")
