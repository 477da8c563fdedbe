"""Keep messages in the outbox for a while after they were sent."""

from alembic import op

revision = "wms0002"
down_revision = "wms0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("ALTER TABLE outbox ADD COLUMN sent_at timestamptz")
    op.execute("CREATE INDEX outbox_waiting ON outbox (id) WHERE sent_at IS NULL")
    op.execute("CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE outbox DROP COLUMN sent_at")
