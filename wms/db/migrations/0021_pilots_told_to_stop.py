"""Pilots that are told to stop, or taken off the lists; what a pilot did last, by an index that is
made while everybody works on."""

from alembic import context, op

revision = "wms0021"
down_revision = "wms0020"
branch_labels = None
depends_on = None

_UNSEEN = "state IN ('lost') AND acknowledged_at IS NULL AND NOT started_again"
INDEX = "attempts_by_pilot ON attempts (pilot, ended_at)"


def upgrade() -> None:
    op.execute("""
ALTER TABLE pilots
    -- It is to hand back what it has, and to end.
    ADD COLUMN stopping boolean NOT NULL DEFAULT false,
    -- Somebody has taken it off the lists, after it had gone.
    ADD COLUMN removed_at timestamptz
""")
    # The table is small, so this is done at once.
    _make_unseen(f"{_UNSEEN} AND removed_at IS NULL")
    if context.is_offline_mode():
        op.execute(f"CREATE INDEX {INDEX}")
        return
    _beside_others("DROP INDEX CONCURRENTLY IF EXISTS attempts_by_pilot")  # half made
    _beside_others(f"CREATE INDEX CONCURRENTLY {INDEX}")


def downgrade() -> None:
    op.execute("DROP INDEX attempts_by_pilot")
    _make_unseen(_UNSEEN)
    op.execute("ALTER TABLE pilots DROP COLUMN removed_at, DROP COLUMN stopping")


def _make_unseen(which: str) -> None:
    op.execute("DROP INDEX pilots_unseen")
    op.execute(f"CREATE INDEX pilots_unseen ON pilots (away_since, uid) WHERE {which}")


def _beside_others(statement: str) -> None:
    """It may take long, and wait long for other transactions: nobody waits for it."""
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = '2h'")
        op.execute("SET lock_timeout = '1h'")
        op.execute(statement)
