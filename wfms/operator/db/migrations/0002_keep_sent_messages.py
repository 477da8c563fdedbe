"""Messages stay in the outbox for a while after they were sent."""

from alembic import op

revision = "operator0002"
down_revision = "operator0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the time at which a message was sent, and its indexes."""
    op.execute("ALTER TABLE outbox ADD COLUMN sent_at timestamptz")
    op.execute("CREATE INDEX outbox_waiting ON outbox (id) WHERE sent_at IS NULL")
    op.execute("CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL")


def downgrade() -> None:
    """Drop the time at which a message was sent."""
    op.execute("ALTER TABLE outbox DROP COLUMN sent_at")
