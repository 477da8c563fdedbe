"""Add the order to stop and the removal of pilots, and an index on a pilot's last attempts.

The index is created without blocking others.
"""

from alembic import context, op

revision = "wms0021"
down_revision = "wms0020"
branch_labels = None
depends_on = None

_UNSEEN = "state IN ('lost') AND acknowledged_at IS NULL AND NOT started_again"
INDEX = "attempts_by_pilot ON attempts (pilot, ended_at)"


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE pilots
    -- It is to hand back what it has, and to end.
    ADD COLUMN stopping boolean NOT NULL DEFAULT false,
    -- Somebody has taken it off the lists, after it had gone.
    ADD COLUMN removed_at timestamptz
""")
    # The table is small, so this takes no long lock.
    _make_unseen(f"{_UNSEEN} AND removed_at IS NULL")
    if context.is_offline_mode():
        op.execute(f"CREATE INDEX {INDEX}")
        return
    _beside_others("DROP INDEX CONCURRENTLY IF EXISTS attempts_by_pilot")  # half built
    _beside_others(f"CREATE INDEX CONCURRENTLY {INDEX}")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP INDEX attempts_by_pilot")
    _make_unseen(_UNSEEN)
    op.execute("ALTER TABLE pilots DROP COLUMN removed_at, DROP COLUMN stopping")


def _make_unseen(which: str) -> None:
    op.execute("DROP INDEX pilots_unseen")
    op.execute(f"CREATE INDEX pilots_unseen ON pilots (away_since, uid) WHERE {which}")


def _beside_others(statement: str) -> None:
    """Run the statement outside a transaction with long timeouts.

    It may take long and wait long for other transactions, but blocks nobody.
    """
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
