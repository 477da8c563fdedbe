"""A task may take over finished jobs of one that was at the same work before."""

from alembic import op

revision = "wms0009"
down_revision = "wms0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE tasks ADD COLUMN taken_over jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE tasks DROP COLUMN taken_over")
