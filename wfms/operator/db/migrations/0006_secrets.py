"""Secrets of tools, encrypted."""

from alembic import op

revision = "operator0006"
down_revision = "operator0005"
branch_labels = None
depends_on = None

SECRETS = """
CREATE TABLE secrets (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- Encrypted, with the name and the version in it; null once it is removed. Its number stays, so
    -- that no later value is taken for it.
    sealed bytea,
    -- Patterns of the names of templates that may use it.
    templates text[] NOT NULL CHECK (cardinality(templates) > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    PRIMARY KEY (name, version),
    CONSTRAINT secrets_removed_has_time CHECK ((sealed IS NULL) = (removed_at IS NOT NULL))
)
"""


def upgrade() -> None:
    """Create the table ``secrets``."""
    op.execute(SECRETS)


def downgrade() -> None:
    """Drop the table ``secrets``."""
    op.execute("DROP TABLE secrets")
