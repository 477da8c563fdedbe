"""Stop attempts that exceed their deadline, and do not renew their leases."""

from alembic import op

revision = "wms0008"
down_revision = "wms0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE jobs
    -- The attempt that its pilot was told to stop because it took too long, and how long that was.
    ADD COLUMN stop_attempt integer,
    ADD COLUMN stop_reason text
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE jobs DROP COLUMN stop_reason, DROP COLUMN stop_attempt")
