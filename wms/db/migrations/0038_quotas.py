"""Add quotas of people to those of groups."""

from alembic import op

revision = "wms0038"
down_revision = "wms0037"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    # Without a row there is no quota.
    op.execute(
        """
CREATE TABLE quotas (
    kind text NOT NULL CHECK (kind IN ('group', 'person')),
    name text NOT NULL,
    quantity text NOT NULL CHECK (quantity IN ('chains', 'bytes', 'files', 'waiting')),
    most bigint NOT NULL CHECK (most >= 0),
    PRIMARY KEY (kind, name, quantity)
)
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE quotas")
