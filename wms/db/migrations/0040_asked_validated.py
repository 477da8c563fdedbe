"""Validate rows older than revision 39, and create indexes on jobs that wait for answers.

Neither blocks others.
"""

from alembic import context, op

revision = "wms0040"
down_revision = "wms0039"
branch_labels = None
depends_on = None

INDEXES = {
    # For a page of a task's waiting jobs by id. The sum keeps the planner from searching all jobs
    # by the primary key.
    "jobs_asked": "ON jobs (task_uid, (id + 0)) WHERE state = 'asked'",
    "tasks_asking": "ON tasks (uid) WHERE needs ? 'ask' AND ended_at IS NULL",
}


def upgrade() -> None:
    """Apply the revision."""
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_counts_add_up")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_final_is_settled")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_state_check")
    for name, what in INDEXES.items():
        if context.is_offline_mode():
            op.execute(f"CREATE INDEX {name} {what}")
        else:
            _beside_others(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # half built
            _beside_others(f"CREATE INDEX CONCURRENTLY {name} {what}")


def downgrade() -> None:
    """Revert the revision."""
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")


def _beside_others(statement: str) -> None:
    """Run the statement outside a transaction with long timeouts.

    It may take long and wait long for other transactions, but blocks nobody.
    """
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
