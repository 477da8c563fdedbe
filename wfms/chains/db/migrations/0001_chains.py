"""Create the tables of chains, their steps and data sets."""

from alembic import op

revision = "wfms_chains0001"
down_revision = None

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

CHAINS = """
CREATE TABLE chains (
    uid uuid PRIMARY KEY,
    -- Order of creation, for pages.
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
    -- The input as the DMS described it.
    dataset jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    -- Invariant 1: one chain per data set and template version.
    UNIQUE (dataset_uid, template_id, template_version),
    CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CHECK (state NOT IN ('failed', 'canceled') OR ending = state),
    CHECK (state <> 'finished' OR ending IS NULL),
    CHECK (state NOT IN ('uploading', 'finished') OR upload_asked),
    CHECK (state <> 'canceled' OR NOT upload_asked),
    CHECK (ending IS NULL OR reason <> '')
)
"""

STEPS = """
CREATE TABLE steps (
    chain_uid uuid NOT NULL REFERENCES chains,
    name text NOT NULL,
    -- Place in the plan.
    ordinal integer NOT NULL,
    task_uid uuid NOT NULL UNIQUE,
    state text NOT NULL CHECK (
        state IN ('pending', 'starting', 'in_progress', 'finished', 'failed', 'canceled')),
    reason text NOT NULL DEFAULT '',
    failed_jobs integer NOT NULL DEFAULT 0 CHECK (failed_jobs >= 0),
    -- Starts begun so far; who is at it until when; when to try again (to start it, or to have its
    -- task canceled).
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    claim_token uuid,
    claimed_until timestamptz,
    next_try_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    ended_at timestamptz,
    PRIMARY KEY (chain_uid, name),
    CHECK ((state IN ('finished', 'failed', 'canceled')) = (ended_at IS NOT NULL)),
    CHECK (state NOT IN ('in_progress', 'finished') OR started_at IS NOT NULL),
    CHECK (state NOT IN ('pending', 'starting') OR started_at IS NULL),
    CHECK ((claim_token IS NULL) = (claimed_until IS NULL)),
    CHECK (claim_token IS NULL OR state = 'starting')
)
"""

INPUTS = """
-- First inputs, each once though several chains may run over it: the lock under which it is
-- released or taken into use.
CREATE TABLE inputs (
    dataset_uid uuid PRIMARY KEY,
    released_at timestamptz
)
"""

DATASETS = """
CREATE TABLE datasets (
    uid uuid NOT NULL,
    chain_uid uuid NOT NULL REFERENCES chains,
    name text NOT NULL,
    -- None: the chain's input.
    step text,
    -- None: the step's logs.
    port text,
    status text NOT NULL CHECK (status IN ('in_progress', 'ready', 'finished')),
    created_at timestamptz NOT NULL,
    -- For workflow outputs: the watcher follows the upload; the upload is complete.
    watched_at timestamptz,
    uploaded_at timestamptz,
    -- Released for deletion; and the watcher has taken that over.
    released_at timestamptz,
    handed_over_at timestamptz,
    PRIMARY KEY (chain_uid, uid),
    FOREIGN KEY (chain_uid, step) REFERENCES steps (chain_uid, name),
    UNIQUE NULLS NOT DISTINCT (chain_uid, step, port),
    CHECK (step IS NOT NULL OR port IS NULL),
    CHECK ((status = 'finished') = (released_at IS NOT NULL)),
    CHECK (handed_over_at IS NULL OR released_at IS NOT NULL),
    CHECK (uploaded_at IS NULL OR port IS NOT NULL)
)
"""

INDEXES = (
    "CREATE INDEX steps_to_start ON steps (next_try_at) WHERE state = 'starting'",
    "CREATE INDEX steps_running ON steps (next_try_at) WHERE state = 'in_progress'",
    "CREATE INDEX steps_claimed ON steps (claim_token) WHERE claim_token IS NOT NULL",
    (
        "CREATE INDEX chains_ending ON chains (uid) WHERE ending IS NOT NULL AND state ="
        " 'in_progress'"
    ),
    "CREATE INDEX chains_uploading ON chains (uid) WHERE state = 'uploading'",
    (
        "CREATE INDEX datasets_to_hand_over ON datasets (released_at) WHERE released_at IS NOT NULL"
        " AND handed_over_at IS NULL"
    ),
    "CREATE INDEX datasets_uid ON datasets (uid)",
)


def upgrade() -> None:
    """Apply the change."""
    for statement in MESSAGING.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (CHAINS, STEPS, INPUTS, DATASETS, *INDEXES):
        op.execute(statement)
