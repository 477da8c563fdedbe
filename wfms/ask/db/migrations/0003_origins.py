"""Store where browsers come from, so that one person has one vote on an item."""

from alembic import op

revision = "wfms_ask0003"
down_revision = "wfms_ask0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column and its index."""
    # A digest. NULL for browsers stored before, and where origins do not matter.
    op.execute("ALTER TABLE devices ADD COLUMN origin bytea")
    op.execute("CREATE INDEX devices_origin ON devices (origin) WHERE origin IS NOT NULL")


def downgrade() -> None:
    """Remove the column."""
    op.execute("ALTER TABLE devices DROP COLUMN origin")
