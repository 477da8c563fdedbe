"""Keep messages in the outbox for a while after they were sent."""

from alembic import op

revision = "wfms_watcher0002"
down_revision = "wfms_watcher0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and its indexes."""
    op.execute("ALTER TABLE outbox ADD COLUMN sent_at timestamptz")
    op.execute("CREATE INDEX outbox_waiting ON outbox (id) WHERE sent_at IS NULL")
    op.execute("CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL")


def downgrade() -> None:
    """Remove the column."""
    op.execute("ALTER TABLE outbox DROP COLUMN sent_at")
