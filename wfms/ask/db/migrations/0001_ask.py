"""Create the tables of questions, items, links, browsers and answers."""

from alembic import op

revision = "wfms_ask0001"
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
    claimed_until timestamptz,
    sent_at timestamptz
);
CREATE TABLE inbox (
    queue text NOT NULL,
    message_id text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, message_id)
);
CREATE INDEX inbox_applied_at ON inbox (applied_at);
CREATE INDEX outbox_waiting ON outbox (id) WHERE sent_at IS NULL;
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;
"""

QUESTIONS = """
-- Tasks of the WMS whose jobs are questions.
CREATE TABLE questions (
    task_uid uuid PRIMARY KEY,
    chain_uid uuid NOT NULL,
    template text NOT NULL,
    step text NOT NULL,
    owner text,
    owner_group text NOT NULL DEFAULT 'everyone',
    ask jsonb NOT NULL,
    output jsonb NOT NULL,
    -- That every job gets: items with known answers among them.
    files jsonb NOT NULL,
    -- The WMS's id of the last job that was taken in; whether the items with known answers were.
    read_to bigint NOT NULL DEFAULT 0,
    gold_read boolean NOT NULL DEFAULT false,
    reason text NOT NULL DEFAULT '',
    -- What is wrong with the items whose answers are known.
    gold_reason text NOT NULL DEFAULT '',
    opened_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
)
"""

ITEMS = """
CREATE TABLE items (
    uid uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    task_uid uuid NOT NULL REFERENCES questions,
    template text NOT NULL,
    step text NOT NULL,
    owner_group text NOT NULL,
    -- NULL: an item whose answer is known.
    job_id bigint,
    seq bigint NOT NULL,
    file jsonb NOT NULL,
    -- What is shown; of an image what stands beside it.
    content jsonb NOT NULL,
    known_answer text,
    state text NOT NULL CHECK (state IN (
        'open', 'decided', 'giving', 'given', 'withdrawn')),
    agree integer NOT NULL CHECK (agree > 0),
    -- How many more browsers it may be lent to now: none where the answer is known, or its file is
    -- nothing that can be shown, for this reason.
    room integer NOT NULL CHECK (room >= 0),
    answer text,
    agreed integer NOT NULL DEFAULT 0 CHECK (agreed >= 0),
    reason text NOT NULL DEFAULT '',
    asked_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    ended_at timestamptz,
    -- What its answers say of who gave them is counted.
    judged boolean NOT NULL DEFAULT false,
    UNIQUE (task_uid, job_id),
    CHECK ((job_id IS NULL) = (known_answer IS NOT NULL)),
    CHECK ((state IN ('decided', 'giving', 'given')) <= (answer IS NOT NULL)),
    CHECK ((state IN ('given', 'withdrawn')) = (ended_at IS NOT NULL))
)
"""

LINKS = """
-- Opens the page of a step to whoever has its key, which is kept as a digest alone.
CREATE TABLE links (
    uid uuid PRIMARY KEY,
    template text NOT NULL,
    step text NOT NULL,
    -- Whose items it shows.
    owner_group text NOT NULL,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    -- Who alone may use it; NULL: whoever has it.
    person text,
    made_by text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    until timestamptz NOT NULL,
    ended_at timestamptz
)
"""

DEVICES = """
-- Browsers that answer, one row for each step they do that for.
CREATE TABLE devices (
    uid uuid PRIMARY KEY,
    template text NOT NULL,
    step text NOT NULL,
    -- Whose items it shows.
    owner_group text NOT NULL,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    link_uid uuid NOT NULL REFERENCES links,
    person text,
    browser text NOT NULL DEFAULT '',
    first_at timestamptz NOT NULL DEFAULT now(),
    last_at timestamptz NOT NULL DEFAULT now(),
    -- Items that it was shown, and answers that it gave.
    shown integer NOT NULL DEFAULT 0,
    given integer NOT NULL DEFAULT 0,
    -- Kind of reference -> answer that was right -> answer that was given -> how often.
    evidence jsonb NOT NULL DEFAULT '{}',
    score double precision NOT NULL DEFAULT 0,
    standing text NOT NULL DEFAULT 'counted' CHECK (standing IN ('counted', 'excluded')),
    reason text NOT NULL DEFAULT '',
    -- A person has said what is thought of it: nothing changes that by itself.
    set_by text
)
"""

SHOWN = """
-- An item that a browser was shown, and what it answered: never twice.
CREATE TABLE shown (
    item_uid uuid NOT NULL REFERENCES items,
    device_uid uuid NOT NULL REFERENCES devices,
    lent_until timestamptz,
    answer text,
    answered_at timestamptz,
    seconds real NOT NULL DEFAULT 0,
    counts boolean NOT NULL DEFAULT true,
    -- Of an item whose answer is known, which says at once who answers with care.
    gold boolean NOT NULL,
    judged boolean NOT NULL DEFAULT false,
    PRIMARY KEY (item_uid, device_uid),
    CHECK ((answer IS NULL) = (answered_at IS NULL)),
    CHECK ((answer IS NULL) = (lent_until IS NOT NULL))
) WITH (fillfactor = 70)
"""

INDEXES = (
    "CREATE INDEX questions_open ON questions (template, step, owner_group) WHERE ended_at IS NULL",
    "CREATE INDEX items_to_lend ON items (template, step, owner_group, position)"
    " WHERE state IN ('open') AND room > 0",
    "CREATE INDEX items_gold ON items (template, step, owner_group, position)"
    " WHERE known_answer IS NOT NULL",
    "CREATE INDEX items_decided ON items (decided_at) WHERE state IN ('decided')",
    "CREATE INDEX items_giving ON items (task_uid) WHERE state IN ('giving')",
    "CREATE INDEX items_refused ON items (task_uid, seq) WHERE reason <> '' AND ended_at IS NULL",
    "CREATE INDEX items_to_judge ON items (position)"
    " WHERE NOT judged AND state IN ('decided', 'giving', 'given')",
    "CREATE INDEX items_of_task ON items (task_uid, state)",
    "CREATE INDEX links_of_step ON links (template, step, owner_group)",
    "CREATE INDEX devices_of_step ON devices (template, step, owner_group, last_at)",
    "CREATE INDEX shown_lent ON shown (lent_until) WHERE lent_until IS NOT NULL",
    "CREATE INDEX shown_of_device ON shown (device_uid, answered_at)",
    "CREATE INDEX shown_to_judge ON shown (item_uid) WHERE gold AND NOT judged"
    " AND answer IS NOT NULL",
)

AUDIT = """
CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Of a person: the same in all services that work for it.
    request uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('begun', 'changed', 'ended', 'told')),
    who text NOT NULL,
    role text NOT NULL,
    action text NOT NULL,
    remote text NOT NULL,
    outcome integer,
    facts jsonb NOT NULL
)
"""

CHAIN = """
-- In the order in which they were chained; digest: SHA-256 of the one before and the row.
CREATE TABLE audit_chain (
    number bigint PRIMARY KEY,
    id bigint NOT NULL UNIQUE,
    digest bytea NOT NULL CHECK (octet_length(digest) = 32)
)
"""

FORGOTTEN = """
-- Rows up to this number were older than they are kept, and are gone.
CREATE TABLE audit_forgotten (
    number bigint PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
)
"""

ADDED_TO = """
-- Rows are added, and go when they are too old, in a transaction that says so.
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
$$
"""

TABLES = ("audit", "audit_chain", "audit_forgotten")


def upgrade() -> None:
    """Create the tables."""
    for statement in MESSAGING.split(";\n"):
        if statement.strip():
            op.execute(statement)
    for statement in (QUESTIONS, ITEMS, LINKS, DEVICES, SHOWN, *INDEXES):
        op.execute(statement)
    for statement in (AUDIT, CHAIN, FORGOTTEN, ADDED_TO):
        op.execute(statement)
    op.execute("CREATE INDEX audit_request ON audit (request)")
    op.execute("CREATE INDEX audit_first ON audit (at, request) WHERE kind IN ('begun', 'told')")
    for table in TABLES:
        op.execute(
            f"""
CREATE TRIGGER {table}_rows BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION audit_is_added_to()
"""
        )
        op.execute(
            f"""
CREATE TRIGGER {table}_whole BEFORE TRUNCATE ON {table}
FOR EACH STATEMENT EXECUTE FUNCTION audit_is_added_to()
"""
        )
