"""Add releases: files that are deleted before their data set is."""

from alembic import op

revision = "dms0009"
down_revision = "dms0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE dataset_files
    -- When all who read the data set were done with the file: from then on it is on its way out,
    -- and its row says that it was there.
    ADD COLUMN released_at timestamptz
"""
    )
    op.execute(
        """
ALTER TABLE datasets
    ADD COLUMN released bigint NOT NULL DEFAULT 0,
    -- Somebody was done with files of it that are not registered yet.
    ADD COLUMN read_ahead boolean NOT NULL DEFAULT false
"""
    )
    op.execute(
        """
-- Files that some of those who read them are done with, and others are not; or that are not
-- registered yet. wanted: how many read them.
CREATE TABLE file_reads (
    dataset_uid uuid NOT NULL,
    seq bigint NOT NULL,
    readers uuid[] NOT NULL,
    wanted integer NOT NULL CHECK (wanted > 0),
    PRIMARY KEY (dataset_uid, seq)
)
"""
    )
    op.execute(
        """
-- Released files whose copies are to be removed. not_before: somebody is at it until then.
CREATE TABLE removals (
    file_id bigint NOT NULL,
    dataset_uid uuid NOT NULL,
    not_before timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (file_id, dataset_uid)
)
"""
    )
    op.execute("CREATE INDEX removals_due ON removals (not_before, file_id)")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE removals")
    op.execute("DROP TABLE file_reads")
    op.execute("ALTER TABLE datasets DROP COLUMN released, DROP COLUMN read_ahead")
    op.execute("ALTER TABLE dataset_files DROP COLUMN released_at")
