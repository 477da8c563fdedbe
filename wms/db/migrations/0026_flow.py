"""Add dataflow scheduling: tasks that take files of an upstream task as they come."""

from alembic import op

revision = "wms0026"
down_revision = "wms0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
-- Task reader has a job made of each file that task writer gives for the data set, in the
-- transaction that ends the file's job. due: files may have been given before it was there.
CREATE TABLE flows (
    reader uuid PRIMARY KEY,
    writer uuid NOT NULL,
    dataset_uid uuid NOT NULL,
    due boolean NOT NULL DEFAULT true
)
""")
    op.execute("CREATE INDEX flows_by_writer ON flows (writer)")
    op.execute("""
ALTER TABLE tasks
    -- Tasks that take its files as they come.
    ADD COLUMN readers integer NOT NULL DEFAULT 0 CHECK (readers >= 0),
    -- Of such a task: when the first of those before it was created, whose turn it shares. NULL: it
    -- stands for itself.
    ADD COLUMN turn_at timestamptz
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN readers, DROP COLUMN turn_at")
    op.execute("DROP TABLE flows")
