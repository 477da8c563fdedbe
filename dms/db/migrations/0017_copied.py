"""Whether whoever registered a data set has the originals of its files."""

from alembic import op

revision = "dms0017"
down_revision = "dms0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE datasets ADD COLUMN copied boolean NOT NULL DEFAULT false")


def downgrade() -> None:
    op.execute("ALTER TABLE datasets DROP COLUMN copied")
