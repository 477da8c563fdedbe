-- The database of the watcher: what chains wait for.

-- Tasks and uploads whose end the watcher waits for.
CREATE TABLE watches (
    uid uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    kind text NOT NULL CHECK (kind IN ('task', 'upload')),
    chain_uid uuid NOT NULL,
    step text,
    dat_in_uid uuid NOT NULL,
    dat_out_uid uuid NOT NULL,
    log_out_uid uuid,
    state text NOT NULL CHECK (state IN ('in_progress', 'finished', 'failed', 'canceled')),
    failed_jobs integer NOT NULL DEFAULT 0 CHECK (failed_jobs >= 0),
    reason text NOT NULL DEFAULT '',
    -- The chain service knows the end, and the releases are in the outbox.
    reported boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    claim_token uuid,
    claimed_until timestamptz,
    CHECK ((state = 'in_progress') = (ended_at IS NULL)),
    CHECK (NOT reported OR state <> 'in_progress'),
    CHECK ((claim_token IS NULL) = (claimed_until IS NULL))
);

CREATE INDEX watches_open ON watches (uid) WHERE NOT reported;

CREATE INDEX watches_claimed ON watches (claim_token) WHERE claim_token IS NOT NULL;

-- Data sets whose deletion was requested: each once (invariant 4).
CREATE TABLE releases (
    dataset_uid uuid PRIMARY KEY,
    sent_at timestamptz NOT NULL
);

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
