"""Add quotas of chains for groups."""

from alembic import op

revision = "wfms_chains0016"
down_revision = "wfms_chains0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    # Null means no limit.
    op.execute(
        "CREATE TABLE group_quotas (name text PRIMARY KEY, chains integer CHECK (chains >= 0))"
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP TABLE group_quotas")
