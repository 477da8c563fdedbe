"""Add priorities of steps, when jobs became ready, and total times of jobs."""

from alembic import op

revision = "wms0020"
down_revision = "wms0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
-- What people have set for steps, by name: of one template, or ('') of all that have a step called
-- so. 0 or more is added to the rank of its tasks; with -1 no job of it is given away.
CREATE TABLE step_priorities (
    step text NOT NULL,
    template text NOT NULL DEFAULT '',
    priority double precision NOT NULL CHECK (priority >= 0 OR priority = -1),
    reason text NOT NULL,
    set_by text NOT NULL,
    set_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (step, template)
)
""")
    op.execute("""
ALTER TABLE jobs
    -- When its input was there; NULL: it was made before that was written down.
    ADD COLUMN ready_at timestamptz
""")
    # The default is set after the column was added, so that existing rows stay NULL.
    op.execute("ALTER TABLE jobs ALTER COLUMN ready_at SET DEFAULT now()")
    op.execute("""
ALTER TABLE tasks
    -- Finished jobs whose times are known, and the seconds that they ran and waited in all.
    ADD COLUMN timed bigint NOT NULL DEFAULT 0 CHECK (timed >= 0),
    ADD COLUMN worked double precision NOT NULL DEFAULT 0,
    ADD COLUMN waited double precision NOT NULL DEFAULT 0
""")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("ALTER TABLE tasks DROP COLUMN waited, DROP COLUMN worked, DROP COLUMN timed")
    op.execute("ALTER TABLE jobs DROP COLUMN ready_at")
    op.execute("DROP TABLE step_priorities")
