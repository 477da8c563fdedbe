"""How long the jobs of a task that has ended waited and ran, and the tasks of a chain; the indexes
are made while everybody works on."""

from alembic import context, op

revision = "wms0023"
down_revision = "wms0022"
branch_labels = None
depends_on = None

INDEXES = {
    "tasks_by_chain": "(chain_uid)",
    # No column of it changes before the task has ended: the others' updates stay cheap.
    "tasks_untimed": "(ended_at) WHERE ended_at IS NOT NULL AND times IS NULL",
}


def upgrade() -> None:
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
            _beside_others(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # half made
            _beside_others(f"CREATE INDEX CONCURRENTLY {name} ON tasks {what}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("ALTER TABLE tasks DROP COLUMN times")


def _beside_others(statement: str) -> None:
    """It may take long, and wait long for other transactions: nobody waits for it."""
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
