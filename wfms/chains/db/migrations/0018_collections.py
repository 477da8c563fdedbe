"""Store the outputs that are collected in append-only data sets."""

from alembic import op

revision = "wfms_chains0018"
down_revision = "wfms_chains0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
-- Of chains that have finished. standing: the name of the data set that grows.
CREATE TABLE collections (
    chain_uid uuid NOT NULL REFERENCES chains,
    dataset_uid uuid NOT NULL,
    output text NOT NULL,
    standing text NOT NULL,
    standing_type text NOT NULL,
    asked_at timestamptz NOT NULL,
    -- When the DMS had it, and where; or refused it.
    ended_at timestamptz,
    standing_uid uuid,
    files bigint,
    reason text NOT NULL DEFAULT '',
    PRIMARY KEY (chain_uid, dataset_uid),
    CHECK ((standing_uid IS NULL) = (files IS NULL)),
    CHECK ((ended_at IS NULL) = (standing_uid IS NULL AND reason = ''))
)
"""
    )
    op.execute("CREATE INDEX collections_waiting ON collections (asked_at) WHERE ended_at IS NULL")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE collections")
