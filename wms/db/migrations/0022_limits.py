"""Add limits on resources that are counted over all nodes."""

from alembic import op

revision = "wms0022"
down_revision = "wms0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
-- Resources that are counted over all nodes: so much at a time, or so much in each period. What is
-- held at a time follows from the counts of tasks; what is spent stands here.
CREATE TABLE limits (
    name text COLLATE "C" PRIMARY KEY,
    amount double precision NOT NULL CHECK (amount > 0),
    period text CHECK (period IN ('minute', 'hour', 'day')),
    spent double precision NOT NULL DEFAULT 0 CHECK (spent >= 0),
    -- Of the period that it was spent in.
    begun timestamptz CHECK ((begun IS NULL) = (period IS NULL))
)
""")
    op.execute("""
-- Tasks whose jobs may hold some.
CREATE INDEX tasks_with_named ON tasks (uid)
WHERE needs ? 'named' AND state NOT IN ('finished', 'failed', 'canceled')
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP INDEX tasks_with_named")
    op.execute("DROP TABLE limits")
