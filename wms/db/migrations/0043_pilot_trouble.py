"""Store why a pilot takes no jobs."""

from alembic import op

revision = "wms0043"
down_revision = "wms0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- As its last heartbeat said: its disk is full. Empty: it takes jobs.
    ADD COLUMN trouble text NOT NULL DEFAULT ''
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN trouble")
