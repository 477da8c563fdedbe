"""Create indexes for lists of pilots; the table is small, so no concurrent build is needed."""

from alembic import op

revision = "wms0016"
down_revision = "wms0015"
branch_labels = None
depends_on = None


def _is(*states: str) -> str:
    listed = ", ".join(f"'{state}'" for state in states)
    return f"state IN ({listed})"


INDEXES = {
    "pilots_present": f"(registered_at, uid) WHERE {_is('active', 'draining')}",
    "pilots_away": "(away_since, uid) WHERE away_since IS NOT NULL",
    "pilots_unseen": (
        f"(away_since, uid) WHERE {_is('lost')} AND acknowledged_at IS NULL AND NOT started_again"
    ),
    "pilots_by_place": "(name, host, registered_at)",
}


def upgrade() -> None:
    """Apply the revision."""
    # There is no index on seen_at: every heartbeat changes it, and each change would write to all
    # indexes.
    op.execute(f"""
ALTER TABLE pilots
    -- It was lost, and a later one has its name and host.
    ADD COLUMN started_again boolean NOT NULL DEFAULT false,
    -- When it was seen last; NULL while it is there.
    ADD COLUMN away_since timestamptz
        GENERATED ALWAYS AS (CASE WHEN {_is("gone", "lost")} THEN seen_at END) STORED
""")
    for name, what in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON pilots {what}")


def downgrade() -> None:
    """Revert the revision."""
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("ALTER TABLE pilots DROP COLUMN away_since, DROP COLUMN started_again")
