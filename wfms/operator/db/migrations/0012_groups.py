"""Groups of people."""

from alembic import op

revision = "operator0012"
down_revision = "operator0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # In the order in which they were given: what a person makes is the first one's.
    op.execute("ALTER TABLE people ADD COLUMN groups text[] NOT NULL DEFAULT '{}'")


def downgrade() -> None:
    op.execute("ALTER TABLE people DROP COLUMN groups")
