-- The database of the WMS: tasks, jobs and pilots.

-- Tasks: a row for each. Columns that change often are small; spec is stored out of line.
-- A transaction that changes a job locks the row of its task first (several: in order of uid).
-- See wms/db/tasks/tasks.py.
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
    -- base_rank: from the step or an operator. rank: base_rank with aging, retries and boost.
    base_rank double precision NOT NULL,
    rank double precision NOT NULL,
    ranked_at timestamptz NOT NULL DEFAULT now(),
    -- Jobs by state. Their sum is always the total (invariant 5).
    total bigint NOT NULL DEFAULT 0,
    ready bigint NOT NULL DEFAULT 0 CHECK (ready >= 0),
    leased bigint NOT NULL DEFAULT 0 CHECK (leased >= 0),
    running bigint NOT NULL DEFAULT 0 CHECK (running >= 0),
    finished bigint NOT NULL DEFAULT 0 CHECK (finished >= 0),
    failed bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    canceled bigint NOT NULL DEFAULT 0 CHECK (canceled >= 0),
    quarantined bigint NOT NULL DEFAULT 0 CHECK (quarantined >= 0),
    failed_attempts bigint NOT NULL DEFAULT 0 CHECK (failed_attempts >= 0),
    -- Error class -> number of failed jobs.
    errors jsonb NOT NULL DEFAULT '{}',
    -- Output or log data set -> number of files sent for registration, which becomes close_at.
    registered jsonb NOT NULL DEFAULT '{}',
    -- Splitting: the claim and its end, the cursor, the files to skip there, the number of the next
    -- group, and the last seq used.
    split_token uuid,
    split_until timestamptz,
    split_checked_at timestamptz,
    split_cursor text,
    split_skip bigint NOT NULL DEFAULT 0 CHECK (split_skip >= 0),
    split_group bigint NOT NULL DEFAULT 0 CHECK (split_group >= 0),
    split_last_seq bigint NOT NULL DEFAULT -1,
    -- All jobs that were never leased have a higher seq: the claim of jobs starts here.
    claimed_seq bigint NOT NULL DEFAULT -1,
    reason text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    served_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    -- Inputs that all jobs of the task get.
    shared_inputs jsonb,
    needs_container boolean NOT NULL DEFAULT false,
    -- What an earlier task did, if the task reuses results.
    taken_over jsonb,
    -- The reservation: a pilot that gets no job of lower rank until a job of this task fits.
    reserved_by uuid,
    reserved_until timestamptz,
    -- Canceled jobs that a pilot had when the task ended.
    killed bigint NOT NULL DEFAULT 0,
    -- What is added to base_rank at present, and why. A rank set by a person is not boosted.
    boost double precision NOT NULL DEFAULT 0,
    boost_reason text NOT NULL DEFAULT '',
    ranked_by_hand boolean NOT NULL DEFAULT false,
    -- Resource requests and run-time properties of the jobs.
    needs jsonb,
    -- Finished jobs with known times, and the seconds that they ran and waited in total.
    timed bigint NOT NULL DEFAULT 0 CHECK (timed >= 0),
    worked double precision NOT NULL DEFAULT 0,
    waited double precision NOT NULL DEFAULT 0,
    -- Of finished jobs: kind of time -> count, sum, sum of squares, minimum, maximum, histogram.
    -- NULL: not counted yet.
    times jsonb,
    -- Downstream tasks that take its files by dataflow scheduling.
    downstream_tasks integer NOT NULL DEFAULT 0 CHECK (downstream_tasks >= 0),
    -- Of such a downstream task: when its first upstream task was created, whose turn it shares.
    -- NULL: it has its own turn.
    turn_at timestamptz,
    -- Of a tree: the job whose file is the output of the step. NULL: not known yet, or the first.
    root_seq bigint,
    -- The person who started the chain. NULL: a trigger or the intake did.
    owner text,
    -- The group that sees the task and acts on it.
    owner_group text NOT NULL DEFAULT 'everyone',
    -- Jobs that wait for annotations.
    asked bigint NOT NULL DEFAULT 0 CHECK (asked >= 0),
    CONSTRAINT tasks_counts_add_up CHECK (
        total = ready + leased + running + finished + failed + canceled + quarantined + asked),
    CONSTRAINT tasks_final_has_time
        CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CONSTRAINT tasks_final_is_settled
        CHECK (ended_at IS NULL OR ready + leased + running + quarantined + asked = 0),
    CONSTRAINT tasks_claim_has_time CHECK ((split_token IS NULL) = (split_until IS NULL))
) WITH (fillfactor = 50, toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX tasks_live ON tasks (uid) WHERE state NOT IN ('finished', 'failed', 'canceled');

CREATE INDEX tasks_created ON tasks (created_at);

-- Tasks whose running jobs may use resources that are limited over all nodes.
CREATE INDEX tasks_with_named ON tasks (uid)
WHERE needs ? 'named' AND state NOT IN ('finished', 'failed', 'canceled');

CREATE INDEX tasks_by_chain ON tasks (chain_uid);

CREATE INDEX tasks_untimed ON tasks (ended_at) WHERE ended_at IS NOT NULL AND times IS NULL;

CREATE INDEX tasks_human ON tasks (uid) WHERE needs ? 'ask' AND ended_at IS NULL;

-- Jobs of tasks. attempt is the fencing token: it grows with each lease, and a report with another
-- number has no effect (invariant 3). failures count against the retries of the task; losses are
-- lost pilots in a row.
CREATE TABLE jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_uid uuid NOT NULL REFERENCES tasks,
    seq bigint NOT NULL CHECK (seq >= 0),
    state text NOT NULL DEFAULT 'ready' CHECK (
        state IN ('ready', 'leased', 'running', 'finished', 'failed', 'canceled', 'quarantined', 'asked')),
    attempt integer NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    failures integer NOT NULL DEFAULT 0 CHECK (failures >= 0),
    losses integer NOT NULL DEFAULT 0 CHECK (losses >= 0),
    -- In MiB. NULL: as in the task.
    ram bigint,
    -- The job is not leased before this time. -infinity: it was never leased.
    not_before timestamptz NOT NULL DEFAULT '-infinity',
    pilot uuid,
    leased_at timestamptz,
    started_at timestamptz,
    lease_until timestamptz,
    ended_at timestamptz,
    error_class text CHECK (error_class IN (
        'tool_failed', 'tool_refused', 'tool_timeout', 'out_of_memory', 'stage_in_failed',
        'checksum_mismatch', 'stage_out_failed', 'no_space', 'pilot_lost', 'canceled', 'internal')),
    message text NOT NULL DEFAULT '',
    inputs jsonb NOT NULL,
    -- The attempt that its pilot was told to stop because it took too long, and the reason.
    stop_attempt integer,
    stop_reason text,
    -- Of the last attempt. 0: not known.
    seconds real NOT NULL DEFAULT 0,
    peak_memory real NOT NULL DEFAULT 0,
    -- When all input files existed.
    ready_at timestamptz DEFAULT now(),
    -- In MiB, of each GPU or of its part of a GPU. NULL: as in the task.
    gpu_memory bigint,
    CONSTRAINT jobs_task_seq UNIQUE (task_uid, seq),
    CONSTRAINT jobs_in_flight_has_lease CHECK (
        (state IN ('leased', 'running')) = (lease_until IS NOT NULL)
        AND (lease_until IS NULL OR (pilot IS NOT NULL AND leased_at IS NOT NULL AND attempt > 0))),
    CONSTRAINT jobs_final_has_time
        CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CONSTRAINT jobs_fresh_or_due CHECK (attempt = 0 OR not_before > '-infinity')
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
    autovacuum_analyze_scale_factor = 0.05);

-- For the claim of jobs: those never leased in order of seq, the others when they are due.
CREATE INDEX jobs_ready ON jobs (task_uid, not_before, seq) WHERE state = 'ready';

CREATE INDEX jobs_in_flight ON jobs (lease_until) WHERE state IN ('leased', 'running');

CREATE INDEX jobs_settled ON jobs (task_uid, state, seq)
WHERE state IN ('finished', 'failed', 'canceled', 'quarantined');

CREATE INDEX jobs_by_seconds ON jobs (task_uid, state, seconds, seq)
WHERE state IN ('finished', 'failed', 'canceled');

CREATE INDEX jobs_by_memory ON jobs (task_uid, state, peak_memory, seq)
WHERE state IN ('finished', 'failed', 'canceled');

CREATE INDEX jobs_asked ON jobs (task_uid, (id + 0)) WHERE state = 'asked';

-- Attempts that have ended. The present attempt is in the row of its job. Rows are inserted only,
-- and the primary key prevents a second end of an attempt. There is no foreign key to jobs, because
-- it would lock the row of the job once more.
CREATE TABLE attempts (
    job_id bigint NOT NULL,
    attempt integer NOT NULL CHECK (attempt > 0),
    pilot uuid NOT NULL,
    leased_at timestamptz NOT NULL,
    started_at timestamptz,
    ended_at timestamptz NOT NULL DEFAULT now(),
    outcome text NOT NULL CHECK (outcome IN ('finished', 'failed', 'canceled', 'lost', 'returned')),
    -- What its pilot reported. NULL: the WMS ended the attempt.
    reported text CHECK (reported IN ('finished', 'failed', 'canceled', 'lost', 'returned')),
    exit_code integer,
    error_class text CHECK (error_class IN (
        'tool_failed', 'tool_refused', 'tool_timeout', 'out_of_memory', 'stage_in_failed',
        'checksum_mismatch', 'stage_out_failed', 'no_space', 'pilot_lost', 'canceled', 'internal')),
    message text NOT NULL DEFAULT '',
    peak_memory double precision,
    cpu_seconds double precision,
    log_url text,
    PRIMARY KEY (job_id, attempt)
);

CREATE INDEX attempts_by_pilot ON attempts (pilot, ended_at);

-- Pilots that have registered.
CREATE TABLE pilots (
    uid uuid PRIMARY KEY,
    name text NOT NULL,
    host text NOT NULL,
    state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'draining', 'gone', 'lost')),
    -- The pilot gets no more jobs. This stays true if it is lost for a while.
    drain boolean NOT NULL DEFAULT false,
    slots integer NOT NULL CHECK (slots > 0),
    resources jsonb NOT NULL,
    version text NOT NULL,
    finished bigint NOT NULL DEFAULT 0 CHECK (finished >= 0),
    failed bigint NOT NULL DEFAULT 0 CHECK (failed >= 0),
    registered_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(),
    engines text[] NOT NULL DEFAULT '{}',
    -- Who acknowledged the loss of the pilot, and when.
    acknowledged_by text,
    acknowledged_at timestamptz,
    -- The pilot was lost, and a later one has its name and host.
    started_again boolean NOT NULL DEFAULT false,
    -- When it was seen last. NULL: it is present.
    away_since timestamptz
        GENERATED ALWAYS AS (CASE WHEN state IN ('gone', 'lost') THEN seen_at END) STORED,
    sandbox text NOT NULL DEFAULT 'none' CHECK (sandbox IN ('namespaces', 'users', 'none')),
    -- The pilot is told to return its jobs and to end.
    stopping boolean NOT NULL DEFAULT false,
    -- When a person removed the absent pilot from the lists.
    removed_at timestamptz,
    -- Its warm workers, from the last heartbeat.
    loaded jsonb NOT NULL DEFAULT '[]',
    -- The kind of jobs that a person ordered for this pilot. They come first, whatever their rank.
    to_load text,
    -- The thumbprint of its public key.
    key text,
    -- The site whose token enrolled it.
    site uuid,
    -- The kind of jobs that the placement policy chose for it, until a warm worker of this kind is
    -- loaded. An order of a person (to_load) has precedence.
    placed_kind text,
    placed_at timestamptz,
    -- Why it takes no jobs (its disk is full), from the last heartbeat. Empty: it takes jobs.
    trouble text NOT NULL DEFAULT '',
    CONSTRAINT pilots_acknowledged_by_somebody
        CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
) WITH (fillfactor = 50);

CREATE INDEX pilots_present ON pilots (registered_at, uid) WHERE state IN ('active', 'draining');

CREATE INDEX pilots_away ON pilots (away_since, uid) WHERE away_since IS NOT NULL;

CREATE INDEX pilots_by_place ON pilots (name, host, registered_at);

CREATE INDEX pilots_unseen ON pilots (away_since, uid)
WHERE state IN ('lost') AND acknowledged_at IS NULL AND NOT started_again AND removed_at IS NULL;

-- Output files of the jobs of a tree, until the task ends.
CREATE TABLE tree_parts (
    task_uid uuid NOT NULL,
    seq bigint NOT NULL,
    file jsonb NOT NULL,
    PRIMARY KEY (task_uid, seq)
);

-- Priorities of steps, set by people: for one template, or ('') for all that have a step of the
-- name. A priority is added to the rank of the tasks. With -1 none of their jobs is leased.
CREATE TABLE step_priorities (
    step text NOT NULL,
    template text NOT NULL DEFAULT '',
    priority double precision NOT NULL CHECK (priority >= 0 OR priority = -1),
    reason text NOT NULL,
    set_by text NOT NULL,
    set_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (step, template)
);

-- Limits over all nodes: an amount at the same time, or an amount in each period. The amount in use
-- follows from the counts of tasks; the amount spent is stored here.
CREATE TABLE limits (
    name text COLLATE "C" PRIMARY KEY,
    amount double precision NOT NULL CHECK (amount > 0),
    period text CHECK (period IN ('minute', 'hour', 'day')),
    spent double precision NOT NULL DEFAULT 0 CHECK (spent >= 0),
    -- Start of the period in which it was spent.
    begun timestamptz CHECK ((begun IS NULL) = (period IS NULL))
);

-- Dataflow scheduling: the downstream task gets a job for each file that the upstream task
-- registers in the data set. The transaction that ends the job of the file makes the new job. due:
-- earlier files are still to be read.
CREATE TABLE flows (
    downstream_uid uuid PRIMARY KEY,
    upstream_uid uuid NOT NULL,
    dataset_uid uuid NOT NULL,
    due boolean NOT NULL DEFAULT true,
    -- A job of the downstream task takes several entries, in order.
    gathers boolean NOT NULL DEFAULT false,
    -- With gathers: entries so far, including those in jobs.
    entries bigint NOT NULL DEFAULT 0,
    -- The last entry that is in a job. -1: none.
    taken_seq bigint NOT NULL DEFAULT -1,
    -- Jobs so far, which is the number of the next group.
    made bigint NOT NULL DEFAULT 0,
    -- All entries with lower numbers exist.
    below bigint NOT NULL DEFAULT 0
);

CREATE INDEX flows_by_upstream ON flows (upstream_uid);

-- Entries of a downstream task that are in no job yet.
CREATE TABLE flow_entries (
    downstream_uid uuid NOT NULL,
    seq bigint NOT NULL,
    size bigint NOT NULL,
    inputs jsonb NOT NULL,
    PRIMARY KEY (downstream_uid, seq)
);

-- Levels of a tree, except the first. made: jobs so far; taken_seq: the last part in a job;
-- closed: the level gets no more jobs.
CREATE TABLE tree_levels (
    task_uid uuid NOT NULL,
    level integer NOT NULL,
    made bigint NOT NULL,
    taken_seq bigint NOT NULL,
    closed boolean NOT NULL,
    PRIMARY KEY (task_uid, level)
);

-- Duplicate attempts (speculative execution) of jobs that a pilot runs already; the other attempt
-- is in the row of the job. While the job is in flight, the row stays after its attempt has ended
-- (lease_until NULL); tried counts the duplicates. Changed under the lock of the task's row.
CREATE TABLE duplicate_attempts (
    job_id bigint PRIMARY KEY,
    task_uid uuid NOT NULL,
    attempt integer NOT NULL CHECK (attempt > 0),
    tried integer NOT NULL DEFAULT 1 CHECK (tried > 0),
    pilot uuid NOT NULL,
    leased_at timestamptz NOT NULL,
    started_at timestamptz,
    lease_until timestamptz,
    -- Why its pilot was told to stop the attempt.
    stop_reason text
);

CREATE INDEX duplicate_attempts_by_task ON duplicate_attempts (task_uid);

-- How long jobs take and how many fail, for each kind (step of a template) and each pilot identity:
-- the name and host of a pilot, which stay the same when it restarts. See
-- wms/domain/scheduling/pilot_times.py.
CREATE TABLE pilot_times (
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
    -- When it last got a job as a probe, to see whether jobs still fail.
    probed_at timestamptz,
    -- Attempts whose jobs another pilot finished.
    rescued bigint NOT NULL DEFAULT 0 CHECK (rescued >= 0),
    PRIMARY KEY (template, step, name, host)
);

CREATE INDEX pilot_times_by_identity ON pilot_times (name, host);

CREATE INDEX pilot_times_failing ON pilot_times (failing) WHERE failing > 0.25;

CREATE INDEX pilot_times_seen ON pilot_times (seen_at);

-- Input data sets of a task that all their tasks read file by file -> number of these tasks. The
-- row arrives apart from the task, and perhaps before it.
CREATE TABLE downstream_counts (
    task_uid uuid PRIMARY KEY,
    counts jsonb NOT NULL
);

-- Sites: places whose pilots enrol with a token of the site.
CREATE TABLE sites (
    uid uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    -- SHA-256 of the token.
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- New pilots can enrol until then.
    expires_at timestamptz NOT NULL,
    most_pilots integer CHECK (most_pilots >= 1),
    -- Names that its pilots may offer. NULL: all.
    labels text[],
    resources text[],
    revoked_at timestamptz
);

CREATE UNIQUE INDEX sites_name ON sites (name) WHERE revoked_at IS NULL;

-- Weights of groups in the fair share. Groups without a row have the weight 1.
CREATE TABLE group_shares (
    name text PRIMARY KEY,
    weight float NOT NULL CHECK (weight > 0)
);

-- How much of a quantity the members of a group, or a person, may use.
CREATE TABLE quotas (
    kind text NOT NULL CHECK (kind IN ('group', 'person')),
    name text NOT NULL,
    quantity text NOT NULL CHECK (quantity IN ('chains', 'bytes', 'files', 'waiting')),
    most bigint NOT NULL CHECK (most >= 0),
    PRIMARY KEY (kind, name, quantity)
);

-- Tasks that are paused because a storage is full.
CREATE TABLE storage_waits (
    task_uid uuid PRIMARY KEY REFERENCES tasks (uid) ON DELETE CASCADE,
    -- The full storage: its URL, and its name if the DMS has reported it.
    url text NOT NULL,
    name text NOT NULL DEFAULT '',
    -- Bytes that the largest attempt asked for, and bytes that were free at the last check.
    needed bigint NOT NULL CHECK (needed >= 0),
    free bigint,
    since timestamptz NOT NULL DEFAULT now(),
    -- There seems to be space: one job may be leased, as a trial.
    open boolean NOT NULL DEFAULT false,
    -- Trials in a row that found the storage full, and when the next one may begin.
    trials int NOT NULL DEFAULT 0 CHECK (trials >= 0),
    try_at timestamptz NOT NULL,
    -- When the last trial, or the pause of the task, began.
    tried_at timestamptz NOT NULL DEFAULT now(),
    -- Since when a trial may begin. NULL: no trial may begin.
    opened_at timestamptz,
    -- The pilot that reported the full storage. NULL: the DMS did.
    pilot_uid uuid
);

-- The audit log: who asked for which change, and how it ended.
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The request of a person has the same number in the audit logs of all services.
    request uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('begun', 'changed', 'ended', 'told')),
    who text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    remote text NOT NULL,
    outcome integer,
    facts jsonb NOT NULL
);

CREATE INDEX audit_request ON audit (request);

CREATE INDEX audit_first ON audit (at, request) WHERE kind IN ('begun', 'told');

-- The hash chain over the audit log. digest: SHA-256 of the digest before it and of the row.
CREATE TABLE audit_chain (
    number bigint PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32)
);

-- Rows up to this number were deleted because their retention time was over.
CREATE TABLE audit_forgotten (
    number bigint PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

-- Rows of the audit log are inserted only. A transaction that deletes old rows has to say so.
CREATE FUNCTION audit_is_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'audit'
        AND current_setting('sluice.audit', true) = 'forget' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION USING
        MESSAGE = TG_TABLE_NAME || ' is added to, and nothing else',
        ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_rows BEFORE UPDATE OR DELETE ON audit
FOR EACH ROW EXECUTE FUNCTION audit_is_added_to();

CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to();

CREATE TRIGGER audit_chain_rows BEFORE UPDATE OR DELETE ON audit_chain
FOR EACH ROW EXECUTE FUNCTION audit_is_added_to();

CREATE TRIGGER audit_chain_whole BEFORE TRUNCATE ON audit_chain
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to();

CREATE TRIGGER audit_forgotten_rows BEFORE UPDATE OR DELETE ON audit_forgotten
FOR EACH ROW EXECUTE FUNCTION audit_is_added_to();

CREATE TRIGGER audit_forgotten_whole BEFORE TRUNCATE ON audit_forgotten
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to();

-- Messages to other services. The transaction that causes a message inserts it; it is sent later.
CREATE TABLE outbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    message_id text NOT NULL UNIQUE,
    destination text NOT NULL,
    body bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    claimed_until timestamptz,
    -- Sent messages are kept for a while, so that a restored receiver can get them again.
    sent_at timestamptz
);

CREATE INDEX outbox_waiting ON outbox (id) WHERE sent_at IS NULL;

CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;

-- Messages that have taken effect. A message that is delivered again has no effect.
CREATE TABLE inbox (
    queue text NOT NULL,
    message_id text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, message_id)
);

CREATE INDEX inbox_applied_at ON inbox (applied_at);
