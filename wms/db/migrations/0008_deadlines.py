"""Attempts that their pilots renew and never end: they are told to stop, and renewed no more."""

from alembic import op

revision = "wms0008"
down_revision = "wms0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
ALTER TABLE jobs
    -- The attempt that its pilot was told to stop because it took too long, and how long that was.
    ADD COLUMN stop_attempt integer,
    ADD COLUMN stop_reason text
"""
    )


def downgrade() -> None:
    op.execute("ALTER TABLE jobs DROP COLUMN stop_reason, DROP COLUMN stop_attempt")
