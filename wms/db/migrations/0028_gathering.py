"""Add tasks and tree levels that put files of an upstream task into groups as they come."""

from alembic import op

revision = "wms0028"
down_revision = "wms0027"
branch_labels = None
depends_on = None


def _due_after(rule: str) -> str:
    """Return a new check on when jobs that were never leased may be due.

    Jobs of files that come one by one are leased in the order in which they became ready. The next
    revision validates old rows.
    """
    return f"""
ALTER TABLE jobs
    DROP CONSTRAINT jobs_fresh_or_due,
    ADD CONSTRAINT jobs_fresh_or_due CHECK ({rule}) NOT VALID
"""


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
ALTER TABLE flows
    -- The reader's jobs are made of several entries, in order.
    ADD COLUMN gathers boolean NOT NULL DEFAULT false,
    -- Of such a reader: entries that it was given, those in jobs included.
    ADD COLUMN entries bigint NOT NULL DEFAULT 0,
    -- The last one that is in a job; -1: none is.
    ADD COLUMN taken_seq bigint NOT NULL DEFAULT -1,
    -- Jobs made so far, and so the number of the next group.
    ADD COLUMN made bigint NOT NULL DEFAULT 0,
    -- Entries with lower numbers are all there.
    ADD COLUMN below bigint NOT NULL DEFAULT 0
""")
    op.execute("""
-- What reader was given and has no job yet: inputs of the job that it will belong to.
CREATE TABLE flow_entries (
    reader uuid NOT NULL,
    seq bigint NOT NULL,
    size bigint NOT NULL,
    inputs jsonb NOT NULL,
    PRIMARY KEY (reader, seq)
)
""")
    op.execute(_due_after("attempt = 0 OR not_before > '-infinity'"))
    # No release has read the columns that are dropped.
    op.execute("""
ALTER TABLE tasks
    -- Of a tree, the job whose file is the step's; NULL: not known yet, or the first.
    ADD COLUMN root_seq bigint,
    DROP COLUMN level_first,
    DROP COLUMN parts_first
""")
    op.execute("""
-- Levels of a tree but the first: made: jobs so far; taken_seq: the last part in one of them;
-- closed: these are all.
CREATE TABLE tree_levels (
    task_uid uuid NOT NULL,
    level integer NOT NULL,
    made bigint NOT NULL,
    taken_seq bigint NOT NULL,
    closed boolean NOT NULL,
    PRIMARY KEY (task_uid, level)
)
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute(
        "UPDATE jobs SET not_before = '-infinity'"
        " WHERE attempt = 0 AND not_before > '-infinity' AND state = 'ready'"
    )
    op.execute(_due_after("(attempt = 0) = (not_before = '-infinity')"))
    op.execute("DROP TABLE tree_levels")
    op.execute("""
ALTER TABLE tasks
    DROP COLUMN root_seq,
    ADD COLUMN level_first bigint NOT NULL DEFAULT 0,
    ADD COLUMN parts_first bigint NOT NULL DEFAULT -1
""")
    op.execute("DROP TABLE flow_entries")
    op.execute(
        "ALTER TABLE flows DROP COLUMN gathers, DROP COLUMN entries, DROP COLUMN taken_seq,"
        " DROP COLUMN made, DROP COLUMN below"
    )
