"""Tasks and jobs of before revision 39 are looked through: long, but under a lock that hinders
nobody. So are indexes made for those that people are asked."""

from alembic import context, op

revision = "wms0040"
down_revision = "wms0039"
branch_labels = None
depends_on = None

INDEXES = {
    # A page of what waits in a task, by id; as a sum, so that nobody looks for it among all jobs,
    # by the primary key.
    "jobs_asked": "ON jobs (task_uid, (id + 0)) WHERE state = 'asked'",
    "tasks_asking": "ON tasks (uid) WHERE needs ? 'ask' AND ended_at IS NULL",
}


def upgrade() -> None:
    op.execute("SET LOCAL statement_timeout = '2h'")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_counts_add_up")
    op.execute("ALTER TABLE tasks VALIDATE CONSTRAINT tasks_final_is_settled")
    op.execute("ALTER TABLE jobs VALIDATE CONSTRAINT jobs_state_check")
    for name, what in INDEXES.items():
        if context.is_offline_mode():
            op.execute(f"CREATE INDEX {name} {what}")
        else:
            _beside_others(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")  # half made
            _beside_others(f"CREATE INDEX CONCURRENTLY {name} {what}")


def downgrade() -> None:
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")


def _beside_others(statement: str) -> None:
    """It may take long, and wait long for other transactions: nobody waits for it."""
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
