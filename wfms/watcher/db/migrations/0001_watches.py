"""Create the tables of watches and releases."""

from alembic import op

revision = "wfms_watcher0001"
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

WATCHES = """
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
    -- The chain service knows of the end, and what it releases is in the outbox.
    reported boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    ended_at timestamptz,
    claim_token uuid,
    claimed_until timestamptz,
    CHECK ((state = 'in_progress') = (ended_at IS NULL)),
    CHECK (NOT reported OR state <> 'in_progress'),
    CHECK ((claim_token IS NULL) = (claimed_until IS NULL))
)
"""

RELEASES = """
-- Data sets whose deletion was asked for: each once, however often it is named (invariant 4).
CREATE TABLE releases (
    dataset_uid uuid PRIMARY KEY,
    sent_at timestamptz NOT NULL
)
"""

INDEXES = (
    "CREATE INDEX watches_open ON watches (uid) WHERE NOT reported",
    "CREATE INDEX watches_claimed ON watches (claim_token) WHERE claim_token IS NOT NULL",
)


def upgrade() -> None:
    """Create the tables."""
    for statement in MESSAGING.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (WATCHES, RELEASES, *INDEXES):
        op.execute(statement)
