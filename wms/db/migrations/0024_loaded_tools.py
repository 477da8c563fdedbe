"""Store which tools a pilot has loaded, as its heartbeats report."""

from alembic import op

revision = "wms0024"
down_revision = "wms0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- Tools that stay loaded on it, as its last heartbeat said.
    ADD COLUMN loaded jsonb NOT NULL DEFAULT '[]'
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN loaded")
