"""Add duplicate attempts at stragglers, and statistics of workers."""

from alembic import op

revision = "wms0030"
down_revision = "wms0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the revision."""
    op.execute("""
-- Another attempt at a job that a pilot runs already; the first one stands in the job's row. While
-- the job is in flight a row stays here after its attempt has ended (lease_until NULL), with how
-- many there were beside the one that goes on. Changed under the lock of the task's row, as the
-- job's own row.
CREATE TABLE second_attempts (
    job_id bigint PRIMARY KEY,
    task_uid uuid NOT NULL,
    attempt integer NOT NULL CHECK (attempt > 0),
    tried integer NOT NULL DEFAULT 1 CHECK (tried > 0),
    pilot uuid NOT NULL,
    leased_at timestamptz NOT NULL,
    started_at timestamptz,
    lease_until timestamptz,
    -- Why its pilot was told to stop it.
    stop_reason text
)""")
    op.execute("CREATE INDEX second_attempts_by_task ON second_attempts (task_uid)")
    op.execute("""
-- By kind of work (the step of a template) and worker (a pilot's name and host, so that it outlives
-- the pilot): how long its jobs take, and how many fail. See wms/domain/scheduling/worker_times.py.
CREATE TABLE worker_times (
    template text NOT NULL,
    step text NOT NULL,
    name text NOT NULL,
    host text NOT NULL,
    jobs bigint NOT NULL CHECK (jobs >= 0),
    failures bigint NOT NULL CHECK (failures >= 0),
    log_seconds double precision NOT NULL,
    spread double precision NOT NULL CHECK (spread >= 0),
    failing double precision NOT NULL CHECK (failing BETWEEN 0 AND 1),
    seen_at timestamptz NOT NULL DEFAULT now(),
    -- When it was last given a job to see whether it still fails.
    probed_at timestamptz,
    PRIMARY KEY (template, step, name, host)
)""")
    op.execute("CREATE INDEX worker_times_by_worker ON worker_times (name, host)")
    op.execute("CREATE INDEX worker_times_failing ON worker_times (failing) WHERE failing > 0.25")
    op.execute("CREATE INDEX worker_times_seen ON worker_times (seen_at)")


def downgrade() -> None:
    """Revert the revision."""
    op.execute("DROP TABLE second_attempts, worker_times")
