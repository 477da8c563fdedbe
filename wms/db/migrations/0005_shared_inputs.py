"""Files that all jobs of a task get stand once, with the task."""

from alembic import op

revision = "wms0005"
down_revision = "wms0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE tasks ADD COLUMN shared_inputs jsonb")


def downgrade() -> None:
    op.execute("ALTER TABLE tasks DROP COLUMN shared_inputs")
