"""Store the time and memory of a job's last attempt, by which lists of jobs are ordered."""

from alembic import op

revision = "wms0010"
down_revision = "wms0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE jobs
    -- Of its last attempt; 0 where that is not known.
    ADD COLUMN seconds real NOT NULL DEFAULT 0,
    ADD COLUMN peak_memory real NOT NULL DEFAULT 0
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE jobs DROP COLUMN peak_memory, DROP COLUMN seconds")
