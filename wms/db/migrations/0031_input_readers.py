"""Add data sets whose files are deleted when all their readers have finished with them."""

from alembic import op

revision = "wms0031"
down_revision = "wms0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
-- Of a task: data sets that it reads file by file, as all tasks do that read them -> how many these
-- are. Told apart from the task, and maybe before it.
CREATE TABLE input_readers (
    task_uid uuid PRIMARY KEY,
    readers jsonb NOT NULL
)
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE input_readers")
