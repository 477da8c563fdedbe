"""Add the quotas of groups on data."""

from alembic import op

revision = "dms0012"
down_revision = "dms0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    # Null means no limit.
    op.execute(
        """
CREATE TABLE group_quotas (
    name text PRIMARY KEY,
    bytes bigint CHECK (bytes >= 0),
    files bigint CHECK (files >= 0)
)
"""
    )
    op.execute(
        """
CREATE INDEX datasets_group ON datasets (owner_group)
WHERE state <> 'deleted' AND owner_group <> 'everyone'
"""
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX datasets_group")
    op.execute("DROP TABLE group_quotas")
