"""Groups of people."""

from alembic import op

revision = "operator0012"
down_revision = "operator0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add groups to accounts."""
    # The order matters: the first group owns what the person creates.
    op.execute("ALTER TABLE people ADD COLUMN groups text[] NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    """Drop the groups of accounts."""
    op.execute("ALTER TABLE people DROP COLUMN groups")
