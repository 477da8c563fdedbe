"""Assets: models and configurations in versions, each a data set of the DMS."""

from alembic import op

revision = "operator0007"
down_revision = "operator0006"
branch_labels = None
depends_on = None

ASSETS = """
CREATE TABLE assets (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- SHA-256 of what files it has and what is in each.
    digest bytea NOT NULL CHECK (length(digest) = 32),
    dataset_uid uuid NOT NULL UNIQUE,
    files jsonb NOT NULL CHECK (jsonb_typeof(files) = 'array'),
    note text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Taken back: no new chain gets it. Its number is not used again.
    removed_at timestamptz,
    -- The DMS has taken over the deletion of its files.
    deleted_at timestamptz,
    PRIMARY KEY (name, version),
    CONSTRAINT assets_deleted_when_removed CHECK (deleted_at IS NULL OR removed_at IS NOT NULL)
)
"""

CONTENT = """
-- The same content is the same version, as long as that is given.
CREATE UNIQUE INDEX assets_content ON assets (name, digest) WHERE removed_at IS NULL
"""

TO_DELETE = """
CREATE INDEX assets_to_delete ON assets (removed_at)
    WHERE removed_at IS NOT NULL AND deleted_at IS NULL
"""

DRAFTS = """
-- Versions that are being sent.
CREATE TABLE asset_drafts (
    dataset_uid uuid PRIMARY KEY,
    name text NOT NULL,
    -- Path, size and, where it was said, checksum of each file; in the order of their paths.
    files jsonb NOT NULL CHECK (jsonb_typeof(files) = 'array'),
    note text NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT now(),
    -- Nothing becomes of it any more, and its data set is to be deleted.
    given_up_at timestamptz
)
"""


def upgrade() -> None:
    """Create the tables ``assets`` and ``asset_drafts``, and their indexes."""
    for statement in (ASSETS, CONTENT, TO_DELETE, DRAFTS):
        op.execute(statement)


def downgrade() -> None:
    """Drop the tables of assets."""
    op.execute("DROP TABLE asset_drafts")
    op.execute("DROP TABLE assets")
