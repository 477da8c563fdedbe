"""Add the reason why an upload cannot succeed: files are not as they were registered."""

from alembic import op

revision = "dms0018"
down_revision = "dms0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
ALTER TABLE datasets
    -- Why its upload cannot succeed. It is halted as well.
    ADD COLUMN lost text
""")


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE datasets DROP COLUMN lost")
