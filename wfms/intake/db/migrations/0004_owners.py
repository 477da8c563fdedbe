"""Add the groups that the templates and data sets of ties belong to."""

from alembic import op

revision = "wfms_intake0004"
down_revision = "wfms_intake0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    # The groups of both templates and of the last data set.
    op.execute("ALTER TABLE ties ADD COLUMN groups text[] NOT NULL DEFAULT '{everyone}'")


def downgrade() -> None:
    """Revert the change."""
    op.execute("ALTER TABLE ties DROP COLUMN groups")
