"""Add generations: how many triggered chains led to the files."""

from alembic import op

revision = "dms0015"
down_revision = "dms0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE collections
    -- Of the chain that made the files; 0: it did not begin by itself on a slice.
    ADD COLUMN generation integer NOT NULL DEFAULT 0 CHECK (generation >= 0),
    -- Their numbers in the standing data set are below it; null: not noted then.
    ADD COLUMN until bigint
"""
    )
    op.execute(
        """
CREATE INDEX collections_generations ON collections (standing_uid, until, generation)
WHERE generation > 0 AND files > 0
"""
    )
    op.execute(
        """
-- Of the chain that it is cut for: one more than the highest of its files'.
ALTER TABLE slices ADD COLUMN generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1)
"""
    )
    op.execute("CREATE INDEX slices_dataset ON slices (dataset_uid)")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX slices_dataset")
    op.execute("ALTER TABLE slices DROP COLUMN generation")
    op.execute("DROP INDEX collections_generations")
    op.execute("ALTER TABLE collections DROP COLUMN until, DROP COLUMN generation")
