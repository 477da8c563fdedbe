"""Store the current level of a tree merge, and the files that the jobs of a level wrote."""

from alembic import op

revision = "wms0007"
down_revision = "wms0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute(
        """
ALTER TABLE tasks
    -- Seq of the first job of the level, and of the level before it.
    ADD COLUMN level_first bigint NOT NULL DEFAULT 0,
    ADD COLUMN parts_first bigint NOT NULL DEFAULT -1
"""
    )
    op.execute(
        """
-- What the jobs of a tree gave, until its task has ended.
CREATE TABLE tree_parts (
    task_uid uuid NOT NULL,
    seq bigint NOT NULL,
    file jsonb NOT NULL,
    PRIMARY KEY (task_uid, seq)
)
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE tree_parts")
    op.execute("ALTER TABLE tasks DROP COLUMN parts_first, DROP COLUMN level_first")
