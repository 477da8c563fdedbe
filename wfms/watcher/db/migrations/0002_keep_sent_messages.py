"""Messages stay in the outbox for a while after they were sent."""

from alembic import op

from sluice.servicekit.database import KEEP_SENT_MESSAGES

revision = "wfms_watcher0002"
down_revision = "wfms_watcher0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for statement in KEEP_SENT_MESSAGES:
        op.execute(statement)


def downgrade() -> None:
    op.execute("ALTER TABLE outbox DROP COLUMN sent_at")
