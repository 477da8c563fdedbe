"""Add sites of pilots."""

from alembic import op

revision = "wms0034"
down_revision = "wms0033"
branch_labels = None
depends_on = None

SITES = """
CREATE TABLE sites (
    uid uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    -- SHA-256 of what its pilots enrol with.
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Of new pilots.
    expires_at timestamptz NOT NULL,
    most_pilots integer CHECK (most_pilots >= 1),
    -- Names that its pilots may offer; null: all.
    labels text[],
    resources text[],
    revoked_at timestamptz
)
"""


def upgrade() -> None:
    """Apply the revision."""
    op.execute(SITES)
    # A name may be used again after the site was revoked.
    op.execute("CREATE UNIQUE INDEX sites_name ON sites (name) WHERE revoked_at IS NULL")
    # NULL: the pilot enrolled with the token of the system.
    op.execute("ALTER TABLE pilots ADD COLUMN site uuid")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE pilots DROP COLUMN site")
    op.execute("DROP TABLE sites")
