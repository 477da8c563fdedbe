"""How long the last attempt at a job took, and how much memory: what lists of jobs are ordered
by."""

from alembic import op

revision = "wms0010"
down_revision = "wms0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
ALTER TABLE jobs
    -- Of its last attempt; 0 where that is not known.
    ADD COLUMN seconds real NOT NULL DEFAULT 0,
    ADD COLUMN peak_memory real NOT NULL DEFAULT 0
""")


def downgrade() -> None:
    op.execute("ALTER TABLE jobs DROP COLUMN peak_memory, DROP COLUMN seconds")
