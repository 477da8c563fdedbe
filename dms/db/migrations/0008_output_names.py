"""Add an index on the output names of chains, without a lock on the table."""

from alembic import context, op

revision = "dms0008"
down_revision = "dms0007"
branch_labels = None
depends_on = None

INDEX = "datasets_output_name ON datasets ((meta->>'output_name')) WHERE meta ? 'chain'"


def upgrade() -> None:
    """Apply the change."""
    if context.is_offline_mode():
        op.execute(f"CREATE INDEX {INDEX}")
        return
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(
            "DROP INDEX CONCURRENTLY IF EXISTS datasets_output_name"
        )  # an interrupted upgrade leaves an invalid index
        op.execute(f"CREATE INDEX CONCURRENTLY {INDEX}")


def downgrade() -> None:
    """Revert the change."""
    op.execute("DROP INDEX datasets_output_name")
