"""Add jobs that wait for answers of people."""

from alembic import op

revision = "wms0039"
down_revision = "wms0038"
branch_labels = None
depends_on = None

BEFORE = ("ready", "leased", "running", "finished", "failed", "canceled", "held")
ENDED = ("finished", "failed", "canceled")


def _rules(*states: str) -> None:
    """Replace the checks of the job counts.

    The new checks hold for new rows at once; the next revision validates old rows. An instance of
    the previous release cannot end a task while its jobs wait for answers; an instance of this
    release ends it.
    """
    total = " + ".join(states)
    unsettled = " + ".join(state for state in states if state not in ENDED)
    op.execute(f"""
ALTER TABLE tasks
    DROP CONSTRAINT tasks_counts_add_up, DROP CONSTRAINT tasks_final_is_settled,
    ADD CONSTRAINT tasks_counts_add_up CHECK (total = {total}) NOT VALID,
    ADD CONSTRAINT tasks_final_is_settled CHECK (ended_at IS NULL OR {unsettled} = 0) NOT VALID
""")
    listed = ", ".join(f"'{state}'" for state in states)
    op.execute(f"""
ALTER TABLE jobs
    DROP CONSTRAINT jobs_state_check,
    ADD CONSTRAINT jobs_state_check CHECK (state IN ({listed})) NOT VALID
""")


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE tasks
    -- Jobs that wait for the answers of people.
    ADD COLUMN asked bigint NOT NULL DEFAULT 0 CHECK (asked >= 0)
""")
    _rules(*BEFORE, "asked")


def downgrade() -> None:
    """Revert the revision."""
    op.execute(
        "UPDATE jobs SET state = 'canceled', ended_at = now(), message = 'asked of nobody any more'"
        " WHERE state = 'asked'"
    )
    op.execute("UPDATE tasks SET canceled = canceled + asked, asked = 0 WHERE asked > 0")
    _rules(*BEFORE)
    op.execute("ALTER TABLE tasks DROP COLUMN asked")
