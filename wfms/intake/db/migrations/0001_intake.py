"""Create the tables of the cursor, handovers and unmatched data sets."""

from alembic import op

revision = "wfms_intake0001"
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

CURSOR = """
-- One row: the DMS's cursor after the last data set decided upon; null at the very beginning.
CREATE TABLE cursor (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    value text
)
"""

FIRST = "INSERT INTO cursor DEFAULT VALUES"

HANDOVERS = """
-- Decided, and not yet known to be with the chain service.
CREATE TABLE handovers (
    dataset_uid uuid PRIMARY KEY,
    -- A NewChain.
    chain jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_try_at timestamptz NOT NULL DEFAULT now(),
    reason text NOT NULL DEFAULT '',
    -- Who is at it, until next_try_at.
    claim_token uuid
)
"""

UNMATCHED = """
CREATE TABLE unmatched (
    dataset_uid uuid PRIMARY KEY,
    dataset_name text NOT NULL,
    reason text NOT NULL CHECK (reason <> ''),
    findings jsonb NOT NULL DEFAULT '[]',
    since timestamptz NOT NULL
)
"""

DUE = "CREATE INDEX handovers_due ON handovers (next_try_at)"
NEWEST = "CREATE INDEX unmatched_since ON unmatched (since DESC)"


def upgrade() -> None:
    """Apply the change."""
    for statement in MESSAGING.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (CURSOR, FIRST, HANDOVERS, UNMATCHED, DUE, NEWEST):
        op.execute(statement)
