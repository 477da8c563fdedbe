"""Add who registered a period or a run, and may set its end."""

from alembic import op

revision = "dms0020"
down_revision = "dms0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
-- A table of its own: the release before reads all columns of periods and runs.
CREATE TABLE span_owners (
    -- "period NAME" or "run NUMBER".
    span text PRIMARY KEY,
    owner text NOT NULL
)
""")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE span_owners")
