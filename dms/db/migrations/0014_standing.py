"""Add append-only data sets and their slices."""

from alembic import op

revision = "dms0014"
down_revision = "dms0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        """
ALTER TABLE datasets
    -- What chains call it whose outputs are collected in it; null: it does not grow.
    ADD COLUMN standing text,
    -- A SliceOf; null: it is no slice.
    ADD COLUMN slice jsonb
"""
    )
    op.execute(
        """
CREATE INDEX datasets_standing ON datasets (position)
WHERE standing IS NOT NULL AND state = 'open'
"""
    )
    op.execute(
        """
-- What was appended to standing data sets of a name and a group: each source once, for ever.
CREATE TABLE collections (
    source_uid uuid NOT NULL,
    standing text NOT NULL,
    owner_group text NOT NULL,
    standing_uid uuid NOT NULL,
    files bigint NOT NULL CHECK (files >= 0),
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (source_uid, standing, owner_group)
)
"""
    )
    op.execute(
        """
-- What readers were given of standing data sets: of files with numbers below "used" each once.
CREATE TABLE slices (
    standing_uid uuid NOT NULL,
    reader text NOT NULL,
    number bigint NOT NULL CHECK (number >= 1),
    used bigint NOT NULL CHECK (used >= 1),
    -- What it was cut for, where it was for a time.
    occasion text,
    dataset_uid uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (standing_uid, reader, number),
    UNIQUE (standing_uid, reader, occasion)
)
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE slices")
    op.execute("DROP TABLE collections")
    op.execute("DROP INDEX datasets_standing")
    op.execute("ALTER TABLE datasets DROP COLUMN slice, DROP COLUMN standing")
