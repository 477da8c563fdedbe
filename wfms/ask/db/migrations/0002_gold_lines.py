"""Where in its file an item with a known answer lies, so that its line alone is read."""

from alembic import op

revision = "wfms_ask0002"
down_revision = "wfms_ask0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Bytes; NULL of other items, and of those that were there before.
    op.execute("ALTER TABLE items ADD COLUMN line_at bigint, ADD COLUMN line_size bigint")


def downgrade() -> None:
    op.execute("ALTER TABLE items DROP COLUMN line_at, DROP COLUMN line_size")
