"""Add times of jobs of ended tasks, and indexes that are created without blocking others."""

from alembic import context, op

revision = "wms0023"
down_revision = "wms0022"
branch_labels = None
depends_on = None

INDEXES = {
    "tasks_by_chain": "(chain_uid)",
    # Its columns do not change before the task has ended, so other updates stay cheap.
    "tasks_untimed": "(ended_at) WHERE ended_at IS NOT NULL AND times IS NULL",
}


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE tasks
    -- Of its finished jobs: kind of time -> count, sum, squares, least, most, and how many by size.
    -- NULL: not counted yet.
    ADD COLUMN times jsonb
""")
    for name, what in INDEXES.items():
        if context.is_offline_mode():
            op.execute(f"CREATE INDEX {name} ON tasks {what}")
        else:
            _beside_others(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # half built
            _beside_others(f"CREATE INDEX CONCURRENTLY {name} ON tasks {what}")


def downgrade() -> None:
    """Revert the revision."""
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("ALTER TABLE tasks DROP COLUMN times")


def _beside_others(statement: str) -> None:
    """Run the statement outside a transaction with long timeouts.

    It may take long and wait long for other transactions, but blocks nobody.
    """
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
