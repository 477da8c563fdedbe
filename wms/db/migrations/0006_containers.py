"""Add tasks that need containers, and the container engines of pilots' nodes."""

from alembic import op

revision = "wms0006"
down_revision = "wms0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("ALTER TABLE tasks ADD COLUMN needs_container boolean NOT NULL DEFAULT false")
    op.execute("ALTER TABLE pilots ADD COLUMN engines text[] NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN needs_container")
    op.execute("ALTER TABLE pilots DROP COLUMN engines")
