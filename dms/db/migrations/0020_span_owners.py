"""Who registered a period or a run, and may say when it ended."""

from alembic import op

revision = "dms0020"
down_revision = "dms0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
-- A table of its own: the release before reads all columns of periods and runs.
CREATE TABLE span_owners (
    kind text NOT NULL CHECK (kind IN ('period', 'run')),
    -- Name of the period or number of the run.
    key text NOT NULL,
    owner text NOT NULL,
    PRIMARY KEY (kind, key)
)
""")


def downgrade() -> None:
    op.execute("DROP TABLE span_owners")
