"""Add the mark of data sets whose files are copies; the originals are elsewhere."""

from alembic import op

revision = "dms0017"
down_revision = "dms0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("ALTER TABLE datasets ADD COLUMN copied boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE datasets DROP COLUMN copied")
