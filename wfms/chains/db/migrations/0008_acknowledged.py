"""Record who acknowledged a failed chain, and index the chains that need attention."""

from alembic import op

revision = "wfms_chains0008"
down_revision = "wfms_chains0007"
branch_labels = None
depends_on = None

UNDER_WAY = ("in_progress", "uploading")
ENDED_BADLY = ("failed",)


def _in(states: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{state}'" for state in states)
    return f"state IN ({listed})"


INDEXES = {
    "chains_under_way": f"(state) WHERE {_in(UNDER_WAY)}",
    "chains_unacknowledged": (
        f"(position) WHERE {_in(ENDED_BADLY)} AND acknowledged_at IS NULL AND NOT discarded"
    ),
    "chains_reruns": "(rerun_of) WHERE rerun_of IS NOT NULL",
}


def upgrade() -> None:
    """Apply the change."""
    op.execute("""
ALTER TABLE chains
    -- Who has seen that it failed, and when.
    ADD COLUMN acknowledged_by text,
    ADD COLUMN acknowledged_at timestamptz,
    ADD CONSTRAINT chains_acknowledged_by_somebody
        CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL)) NOT VALID
""")
    for name, what in INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON chains {what}")


def downgrade() -> None:
    """Revert the change."""
    for name in INDEXES:
        op.execute(f"DROP INDEX {name}")
    op.execute("ALTER TABLE chains DROP COLUMN acknowledged_at, DROP COLUMN acknowledged_by")
