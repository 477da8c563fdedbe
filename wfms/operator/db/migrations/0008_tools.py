"""The library of tools."""

from alembic import op

revision = "operator0008"
down_revision = "operator0007"
branch_labels = None
depends_on = None

TOOLS = """
CREATE TABLE tools (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    text text NOT NULL,
    -- What it takes and gives, for who looks for one.
    ports jsonb NOT NULL CHECK (jsonb_typeof(ports) = 'object'),
    doc text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Nothing is composed of it any more; its number is not used again.
    removed_at timestamptz,
    PRIMARY KEY (name, version)
)
"""


def upgrade() -> None:
    """Create the table ``tools``."""
    op.execute(TOOLS)


def downgrade() -> None:
    """Drop the table ``tools``."""
    op.execute("DROP TABLE tools")
