"""Create indexes for lists of jobs by state, time and memory, without blocking others."""

from alembic import context, op

revision = "wms0011"
down_revision = "wms0010"
branch_labels = None
depends_on = None

ENDED = ("finished", "failed", "canceled")


def _where(*states: str) -> str:
    listed = ", ".join(f"'{state}'" for state in states)
    return f"WHERE state IN ({listed})"


INDEXES = {
    "jobs_settled": f"(task_uid, state, seq) {_where(*ENDED, 'held')}",
    "jobs_by_seconds": f"(task_uid, state, seconds, seq) {_where(*ENDED)}",
    "jobs_by_memory": f"(task_uid, state, peak_memory, seq) {_where(*ENDED)}",
}
#: An index that `jobs_settled` replaces.
BEFORE = ("jobs_troubled", f"(task_uid, state) {_where('failed', 'held')}")


def upgrade() -> None:
    """Apply the revision."""
    for name, what in INDEXES.items():
        _make(name, what)
    _drop(BEFORE[0])


def downgrade() -> None:
    """Revert the revision."""
    _make(*BEFORE)
    for name in INDEXES:
        _drop(name)


def _make(name: str, what: str) -> None:
    if context.is_offline_mode():
        op.execute(f"CREATE INDEX {name} ON jobs {what}")
        return
    _drop(name)  # if an interrupted run left it half built
    _beside_others(f"CREATE INDEX CONCURRENTLY {name} ON jobs {what}")


def _drop(name: str) -> None:
    if context.is_offline_mode():
        op.execute(f"DROP INDEX {name}")
        return
    _beside_others(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def _beside_others(statement: str) -> None:
    """Run the statement outside a transaction with long timeouts.

    It may take long and wait long for other transactions, but blocks nobody.
    """
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
