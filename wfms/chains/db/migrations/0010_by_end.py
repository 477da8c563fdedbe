"""Index the chains by their end."""

from alembic import op

revision = "wfms_chains0010"
down_revision = "wfms_chains0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute(
        "CREATE INDEX chains_ended ON chains (ended_at, position) WHERE ended_at IS NOT NULL"
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX chains_ended")
