-- The database of the intake: which data sets have been matched.

-- One row: the cursor of the DMS after the last data set that was matched. NULL: at the start.
CREATE TABLE cursor (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    value text
);

INSERT INTO cursor DEFAULT VALUES;

-- Chains that the chain service has not confirmed yet.
CREATE TABLE handovers (
    dataset_uid uuid PRIMARY KEY,
    -- A NewChain.
    chain jsonb NOT NULL,
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_try_at timestamptz NOT NULL DEFAULT now(),
    reason text NOT NULL DEFAULT '',
    -- The claim of an instance, until next_try_at.
    claim_token uuid
);

CREATE INDEX handovers_due ON handovers (next_try_at);

-- Data sets that no template, or no single template, takes.
CREATE TABLE unmatched (
    dataset_uid uuid PRIMARY KEY,
    dataset_name text NOT NULL,
    reason text NOT NULL CHECK (reason <> ''),
    findings jsonb NOT NULL DEFAULT '[]',
    since timestamptz NOT NULL,
    -- The Dataset that was matched.
    dataset jsonb
);

CREATE INDEX unmatched_since ON unmatched (since DESC);

-- Pairs of templates of equal priority that matched the same data sets.
CREATE TABLE ties (
    template_id uuid NOT NULL,
    other_id uuid NOT NULL,
    template text NOT NULL,
    other text NOT NULL,
    priority bigint NOT NULL,
    datasets bigint NOT NULL DEFAULT 1 CHECK (datasets >= 1),
    -- The last data set that both matched.
    dataset_uid uuid NOT NULL,
    dataset_name text NOT NULL,
    at timestamptz NOT NULL,
    groups text[] NOT NULL DEFAULT '{everyone}',
    PRIMARY KEY (template_id, other_id)
);

-- Schedules of templates.
CREATE TABLE schedules (
    template text PRIMARY KEY,
    -- Schedule and time zone. A changed schedule starts again.
    spec text NOT NULL,
    -- Times up to this one are done, or were before the schedule existed.
    until timestamptz NOT NULL,
    -- The last time of the schedule that started something, and the result.
    last_at timestamptz,
    came_of_it text NOT NULL DEFAULT ''
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
