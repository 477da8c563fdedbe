"""Create the tables of tasks, jobs, attempts and pilots."""

from alembic import op

revision = "wms0001"
down_revision = None
branch_labels = None
depends_on = None

MESSAGING = """
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id text NOT NULL UNIQUE,
    destination text NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz
);
CREATE TABLE inbox (
    queue text NOT NULL,
    message_id text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, message_id)
);
CREATE INDEX inbox_applied_at ON inbox (applied_at);
"""

TASKS = """
-- One row per task; everything that changes often is small, the description (spec) lies out of
-- line.
-- Whoever moves a job of a task first locks the task's row (several: in order of uid); see
-- wms/db/tasks/tasks.py.
CREATE TABLE tasks (
    uid uuid PRIMARY KEY,
    chain_uid uuid NOT NULL,
    step text NOT NULL,
    template text NOT NULL,
    spec jsonb NOT NULL,
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'splitting', 'active', 'finished', 'failed', 'canceled')),
    mode text NOT NULL CHECK (mode IN ('map', 'merge')),
    device_type text NOT NULL CHECK (device_type IN ('cpu', 'gpu')),
    cores double precision NOT NULL CHECK (cores > 0),
    ram bigint NOT NULL CHECK (ram >= 0),
    disk bigint NOT NULL CHECK (disk >= 0),
    -- base_rank: the step's or an operator's; rank: with what aging and retries have added.
    base_rank double precision NOT NULL,
    rank double precision NOT NULL,
    ranked_at timestamptz NOT NULL DEFAULT now(),
    -- Jobs by state: they add up to the total at every moment (invariant 5).
    total bigint NOT NULL DEFAULT 0,
    ready bigint NOT NULL DEFAULT 0 CHECK (ready >= 0),
    leased bigint NOT NULL DEFAULT 0 CHECK (leased >= 0),
    running bigint NOT NULL DEFAULT 0 CHECK (running >= 0),
    finished bigint NOT NULL DEFAULT 0 CHECK (finished >= 0),
    failed bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    canceled bigint NOT NULL DEFAULT 0 CHECK (canceled >= 0),
    held bigint NOT NULL DEFAULT 0 CHECK (held >= 0),
    failed_attempts bigint NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
    -- Class of error -> failed jobs.
    errors jsonb NOT NULL DEFAULT '{}',
    -- Output or log data set -> files sent for registration: what close_at has to say in the end.
    registered jsonb NOT NULL DEFAULT '{}',
    -- Splitting: who does it and until when; where to read on, files to skip there, number of the
    -- next group, last seq used.
    split_token uuid,
    split_until timestamptz,
    split_checked_at timestamptz,
    split_cursor text,
    split_skip bigint NOT NULL DEFAULT 0 CHECK (split_skip >= 0),
    split_group bigint NOT NULL DEFAULT 0 CHECK (split_group >= 0),
    split_last_seq bigint NOT NULL DEFAULT -1,
    -- Jobs that were never leased have a higher seq, so that a claim starts behind the ones taken.
    claimed_seq bigint NOT NULL DEFAULT -1,
    reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    served_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    CONSTRAINT tasks_counts_add_up
        CHECK (total = ready + leased + running + finished + failed + canceled + held),
    CONSTRAINT tasks_final_has_time
        CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CONSTRAINT tasks_final_is_settled
        CHECK (ended_at IS NULL OR ready + leased + running + held = 0),
    CONSTRAINT tasks_claim_has_time CHECK ((split_token IS NULL) = (split_until IS NULL))
) WITH (fillfactor = 50, toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX tasks_live ON tasks (uid) WHERE state NOT IN ('finished', 'failed', 'canceled');
CREATE INDEX tasks_created ON tasks (created_at);
"""

JOBS = """
-- attempt is the fencing token: it grows with every lease, and a report with another number changes
-- nothing (invariant 3). failures count against the task's retry; losses are nodes lost in a row.
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_uid uuid NOT NULL REFERENCES tasks,
    seq bigint NOT NULL CHECK (seq >= 0),
    state text NOT NULL DEFAULT 'ready' CHECK (
        state IN ('ready', 'leased', 'running', 'finished', 'failed', 'canceled', 'held')),
    attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    losses integer NOT NULL DEFAULT 0 CHECK (losses >= 0),
    -- MiB; NULL: as the task says.
    ram bigint,
    -- Not leased before; -infinity: never leased yet.
    not_before timestamptz NOT NULL DEFAULT '-infinity',
    pilot uuid,
    leased_at timestamptz,
    started_at timestamptz,
    lease_until timestamptz,
    ended_at timestamptz,
    error_class text CHECK (error_class IN (
        'tool_failed', 'tool_refused', 'tool_timeout', 'out_of_memory', 'stage_in_failed',
        'checksum_mismatch', 'stage_out_failed', 'no_room', 'pilot_lost', 'canceled', 'internal')),
    message text NOT NULL DEFAULT '',
    inputs jsonb NOT NULL,
    CONSTRAINT jobs_task_seq UNIQUE (task_uid, seq),
    CONSTRAINT jobs_in_flight_has_lease CHECK (
        (state IN ('leased', 'running')) = (lease_until IS NOT NULL)
        AND (lease_until IS NULL OR (pilot IS NOT NULL AND leased_at IS NOT NULL AND attempt > 0))),
    CONSTRAINT jobs_final_has_time
        CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CONSTRAINT jobs_fresh_or_due CHECK ((attempt = 0) = (not_before = '-infinity'))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.05);
-- The claim: jobs never leased in order of seq, the others when they are due.
CREATE INDEX jobs_ready ON jobs (task_uid, not_before, seq) WHERE state = 'ready';
CREATE INDEX jobs_in_flight ON jobs (lease_until) WHERE state IN ('leased', 'running');
CREATE INDEX jobs_troubled ON jobs (task_uid, state) WHERE state IN ('failed', 'held');
"""

ATTEMPTS = """
-- Attempts that have ended; the present one stands in its job's row. Rows are added, never changed:
-- the key alone makes a second end of one attempt impossible. No foreign key: it would lock the
-- job's row again for each.
CREATE TABLE attempts (
    job_id bigint NOT NULL,
    attempt integer NOT NULL CHECK (attempt > 0),
    pilot uuid NOT NULL,
    leased_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz NOT NULL DEFAULT now(),
    outcome text NOT NULL CHECK (outcome IN ('finished', 'failed', 'canceled', 'lost', 'returned')),
    -- What its pilot said; NULL where the WMS ended it by itself.
    reported text CHECK (reported IN ('finished', 'failed', 'canceled', 'lost', 'returned')),
    exit_code integer,
    error_class text CHECK (error_class IN (
        'tool_failed', 'tool_refused', 'tool_timeout', 'out_of_memory', 'stage_in_failed',
        'checksum_mismatch', 'stage_out_failed', 'no_room', 'pilot_lost', 'canceled', 'internal')),
    message text NOT NULL DEFAULT '',
    peak_memory double precision,
    cpu_seconds double precision,
    log_url text,
    PRIMARY KEY (job_id, attempt)
);
"""

PILOTS = """
CREATE TABLE pilots (
    uid uuid PRIMARY KEY,
    name text NOT NULL,
    host text NOT NULL,
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'draining', 'gone', 'lost')),
    -- Asked to finish what it has: outlives its being lost for a while.
    drain boolean NOT NULL DEFAULT false,
    slots integer NOT NULL CHECK (slots > 0),
    resources jsonb NOT NULL,
    version text NOT NULL,
    finished bigint NOT NULL DEFAULT 0 CHECK (finished >= 0),
    failed bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    registered_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
"""


def _statements(sql: str) -> list[str]:
    return [statement for statement in sql.split(";\n") if statement.strip()]


def upgrade() -> None:
    """Apply the revision."""
    for sql in (MESSAGING, TASKS, JOBS, ATTEMPTS, PILOTS):
        for statement in _statements(sql):
            op.execute(statement)


def downgrade() -> None:
    """Revert the revision."""
    for table in ("pilots", "attempts", "jobs", "tasks", "inbox", "outbox"):
        op.execute(f"DROP TABLE {table}")
