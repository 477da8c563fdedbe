"""What stays loaded on a pilot, as its heartbeats say."""

from alembic import op

revision = "wms0024"
down_revision = "wms0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
ALTER TABLE pilots
    -- Tools that stay loaded on it, as its last heartbeat said.
    ADD COLUMN loaded jsonb NOT NULL DEFAULT '[]'
""")


def downgrade() -> None:
    op.execute("ALTER TABLE pilots DROP COLUMN loaded")
