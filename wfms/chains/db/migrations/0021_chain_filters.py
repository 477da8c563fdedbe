"""Index the filters of the list of chains: metadata of the input, and owner."""

from alembic import op

revision = "wfms_chains0021"
down_revision = "wfms_chains0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.execute("CREATE INDEX chains_by_meta ON chains USING gin ((dataset->'meta') jsonb_path_ops)")
    op.execute("CREATE INDEX chains_by_owner ON chains (owner, position)")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX chains_by_owner")
    op.execute("DROP INDEX chains_by_meta")
