"""What people have been notified of by mail or webhook."""

from alembic import op

revision = "operator0016"
down_revision = "operator0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table ``notifications``."""
    op.execute(
        """
CREATE TABLE notifications (
    -- What needs a person: 'unmatched:UID', 'chain:UID', 'task:UID TEXT' …
    key text PRIMARY KEY,
    -- An instance is sending it; another one may try after a while.
    claimed_at timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz
)
"""
    )


def downgrade() -> None:
    """Drop the table ``notifications``."""
    op.execute("DROP TABLE notifications")
