"""Add fair shares of groups."""

from alembic import op

revision = "wms0037"
down_revision = "wms0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    # Groups without a row have weight 1.
    op.execute(
        """
CREATE TABLE group_shares (
    name text PRIMARY KEY,
    weight float NOT NULL CHECK (weight > 0)
)
"""
    )


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE group_shares")
