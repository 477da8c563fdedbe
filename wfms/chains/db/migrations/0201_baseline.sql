-- The database of the chain service: chains and their steps.

-- Chains: data sets on their way through templates.
CREATE TABLE chains (
    uid uuid PRIMARY KEY,
    -- Order of creation, for the pages of lists.
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    state text NOT NULL CHECK (
        state IN ('in_progress', 'uploading', 'finished', 'failed', 'canceled')),
    -- How it will end when its running tasks have stopped.
    ending text CHECK (ending IN ('failed', 'canceled')),
    upload_asked boolean NOT NULL DEFAULT false,
    reason text NOT NULL DEFAULT '',
    template_id uuid NOT NULL,
    template_name text NOT NULL,
    template_version integer NOT NULL,
    plan jsonb NOT NULL,
    params jsonb NOT NULL,
    dataset_uid uuid NOT NULL,
    dataset_name text NOT NULL,
    -- The input data set as the DMS described it.
    dataset jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- Its outputs were discarded.
    discarded boolean NOT NULL DEFAULT false,
    variant text NOT NULL DEFAULT '',
    rerun_of uuid,
    -- How long intermediate data stay after a failure or cancellation, and until when they stay.
    keep_failed interval NOT NULL DEFAULT '0',
    keep_until timestamptz,
    -- Who acknowledged the failure, and when.
    acknowledged_by text,
    acknowledged_at timestamptz,
    -- Parameter -> name and version of a secret, without values. NULL: no secrets.
    secrets jsonb,
    rank double precision NOT NULL DEFAULT 0 CHECK (rank >= 0),
    -- The person who started it. NULL: a trigger or the intake did.
    owner text,
    -- The group that sees it and acts on it.
    owner_group text NOT NULL DEFAULT 'everyone',
    -- The producer of the first input keeps the originals of its files.
    input_copied boolean NOT NULL DEFAULT false,
    -- Jobs failed, and nobody has decided what happens to their input files.
    unsettled boolean NOT NULL DEFAULT false,
    -- Invariant 1: one chain for each data set, template version and variant.
    UNIQUE (dataset_uid, template_id, template_version, variant),
    CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CHECK (state NOT IN ('failed', 'canceled') OR ending = state),
    CHECK (state <> 'finished' OR ending IS NULL),
    CHECK (state NOT IN ('uploading', 'finished') OR upload_asked),
    CHECK (ending IS NULL OR reason <> ''),
    CONSTRAINT chains_acknowledged_by_somebody
        CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
);

CREATE INDEX chains_ending ON chains (uid) WHERE ending IS NOT NULL AND state = 'in_progress';

CREATE INDEX chains_uploading ON chains (uid) WHERE state = 'uploading';

CREATE INDEX chains_kept ON chains (keep_until) WHERE keep_until IS NOT NULL;

CREATE INDEX chains_under_way ON chains (state) WHERE state IN ('in_progress', 'uploading');

CREATE INDEX chains_unacknowledged ON chains (position)
WHERE state IN ('failed') AND acknowledged_at IS NULL AND NOT discarded;

CREATE INDEX chains_reruns ON chains (rerun_of) WHERE rerun_of IS NOT NULL;

CREATE INDEX chains_ended ON chains (ended_at, position) WHERE ended_at IS NOT NULL;

CREATE INDEX chains_by_template ON chains (template_name, position);

CREATE INDEX chains_unsettled ON chains (position) WHERE unsettled;

CREATE INDEX chains_unsettled_inputs ON chains (dataset_uid) WHERE unsettled;

CREATE INDEX chains_by_meta ON chains USING gin ((dataset->'meta') jsonb_path_ops);

CREATE INDEX chains_by_owner ON chains (owner, position);

-- Steps of chains, each with its task in the WMS.
CREATE TABLE steps (
    chain_uid uuid NOT NULL REFERENCES chains,
    name text NOT NULL,
    -- Position in the plan.
    ordinal integer NOT NULL,
    task_uid uuid NOT NULL UNIQUE,
    state text NOT NULL CHECK (
        state IN ('pending', 'starting', 'in_progress', 'finished', 'failed', 'canceled')),
    reason text NOT NULL DEFAULT '',
    failed_jobs integer NOT NULL DEFAULT 0 CHECK (failed_jobs >= 0),
    -- Starts so far; the claim and its end; when to start it, or cancel its task, again.
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    claim_token uuid,
    claimed_until timestamptz,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz,
    -- The chain whose task did the step and whose data sets are reused …
    taken_from uuid,
    -- … or whose finished jobs are reused.
    jobs_from uuid,
    PRIMARY KEY (chain_uid, name),
    CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CHECK (state NOT IN ('in_progress', 'finished') OR started_at IS NOT NULL),
    CHECK (state NOT IN ('pending', 'starting') OR started_at IS NULL),
    CHECK ((claim_token IS NULL) = (claimed_until IS NULL)),
    CHECK (claim_token IS NULL OR state = 'starting')
);

CREATE INDEX steps_to_start ON steps (next_try_at) WHERE state = 'starting';

CREATE INDEX steps_running ON steps (next_try_at) WHERE state = 'in_progress';

CREATE INDEX steps_claimed ON steps (claim_token) WHERE claim_token IS NOT NULL;

-- Input data sets of chains. Several chains can use one; its row is the lock under which it is
-- released or taken into use.
CREATE TABLE inputs (
    dataset_uid uuid PRIMARY KEY,
    released_at timestamptz
);

-- Data sets of chains.
CREATE TABLE datasets (
    uid uuid NOT NULL,
    chain_uid uuid NOT NULL REFERENCES chains,
    name text NOT NULL,
    -- NULL: the input of the chain.
    step text,
    -- NULL: the logs of the step.
    port text,
    status text NOT NULL CHECK (status IN ('in_progress', 'ready', 'finished')),
    created_at timestamptz NOT NULL,
    -- Of workflow outputs: when the watcher began to follow the upload, and when it was complete.
    watched_at timestamptz,
    uploaded_at timestamptz,
    -- When it was released for deletion, and when the watcher had accepted the release.
    released_at timestamptz,
    handed_over_at timestamptz,
    PRIMARY KEY (chain_uid, uid),
    FOREIGN KEY (chain_uid, step) REFERENCES steps (chain_uid, name),
    UNIQUE NULLS NOT DISTINCT (chain_uid, step, port),
    CHECK ((status = 'finished') = (released_at IS NOT NULL)),
    CHECK (handed_over_at IS NULL OR released_at IS NOT NULL),
    CHECK (uploaded_at IS NULL OR port IS NOT NULL)
);

CREATE INDEX datasets_to_hand_over ON datasets (released_at)
WHERE released_at IS NOT NULL AND handed_over_at IS NULL;

CREATE INDEX datasets_uid ON datasets (uid);

-- Requests to delete data sets.
CREATE TABLE deletions (
    dataset_uid uuid PRIMARY KEY,
    -- Deletes outputs too, and cancels chains that need the data set.
    force boolean NOT NULL,
    asked_at timestamptz NOT NULL,
    -- The claim of an instance, and its end.
    claim_token uuid,
    claimed_until timestamptz,
    CONSTRAINT deletions_claimed_for_a_time
        CHECK ((claim_token IS NULL) = (claimed_until IS NULL))
);

-- How much of a quantity the members of a group, or a person, may use.
CREATE TABLE quotas (
    kind text NOT NULL CHECK (kind IN ('group', 'person')),
    name text NOT NULL,
    quantity text NOT NULL CHECK (quantity IN ('chains', 'bytes', 'files', 'waiting')),
    most bigint NOT NULL CHECK (most >= 0),
    PRIMARY KEY (kind, name, quantity)
);

-- Outputs of finished chains to append to the data set called append_only.
CREATE TABLE collections (
    chain_uid uuid NOT NULL REFERENCES chains,
    dataset_uid uuid NOT NULL,
    output text NOT NULL,
    append_only text NOT NULL,
    append_only_type text NOT NULL,
    asked_at timestamptz NOT NULL,
    -- When the DMS had appended the files, and where; or had refused them, and why.
    ended_at timestamptz,
    append_only_uid uuid,
    files bigint,
    reason text NOT NULL DEFAULT '',
    PRIMARY KEY (chain_uid, dataset_uid),
    CHECK ((append_only_uid IS NULL) = (files IS NULL)),
    CHECK ((ended_at IS NULL) = (append_only_uid IS NULL AND reason = ''))
);

CREATE INDEX collections_waiting ON collections (asked_at) WHERE ended_at IS NULL;

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
