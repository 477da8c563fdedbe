"""Where browsers come from, so that one person has one vote on an item."""

from alembic import op

revision = "wfms_ask0003"
down_revision = "wfms_ask0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A digest; NULL of browsers that came before, and where origins are not looked at.
    op.execute("ALTER TABLE devices ADD COLUMN origin bytea")
    op.execute("CREATE INDEX devices_origin ON devices (origin) WHERE origin IS NOT NULL")


def downgrade() -> None:
    op.execute("ALTER TABLE devices DROP COLUMN origin")
