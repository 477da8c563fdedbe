"""Store where the line of a gold item is in its file, so that only this line is read."""

from alembic import op

revision = "wfms_ask0002"
down_revision = "wfms_ask0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns."""
    # In bytes. NULL for other items, and for gold items stored before.
    op.execute("ALTER TABLE items ADD COLUMN line_at bigint, ADD COLUMN line_size bigint")


def downgrade() -> None:
    """Remove the columns."""
    op.execute("ALTER TABLE items DROP COLUMN line_at, DROP COLUMN line_size")
