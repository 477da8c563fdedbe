-- The database of the human tasks service: items, browsers of annotators, and annotations.

-- Human tasks: tasks of the WMS whose jobs are items.
CREATE TABLE questions (
    task_uid uuid PRIMARY KEY,
    chain_uid uuid NOT NULL,
    template text NOT NULL,
    step text NOT NULL,
    owner text,
    owner_group text NOT NULL DEFAULT 'everyone',
    ask jsonb NOT NULL,
    output jsonb NOT NULL,
    -- Files that each job gets, which include those of gold items.
    files jsonb NOT NULL,
    -- The id of the last job that was imported from the WMS; whether the gold items were.
    read_to bigint NOT NULL DEFAULT 0,
    gold_read boolean NOT NULL DEFAULT false,
    reason text NOT NULL DEFAULT '',
    -- What is wrong with the gold items.
    gold_reason text NOT NULL DEFAULT '',
    opened_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
);

CREATE INDEX questions_open ON questions (template, step, owner_group) WHERE ended_at IS NULL;

-- Items: questions that annotators answer.
CREATE TABLE items (
    uid uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    task_uid uuid NOT NULL REFERENCES questions,
    template text NOT NULL,
    step text NOT NULL,
    owner_group text NOT NULL,
    -- NULL: a gold item.
    job_id bigint,
    seq bigint NOT NULL,
    file jsonb NOT NULL,
    -- What is shown, or what is shown beside an image.
    content jsonb NOT NULL,
    known_answer text,
    state text NOT NULL CHECK (state IN (
        'open', 'decided', 'delivering', 'delivered', 'withdrawn')),
    agree integer NOT NULL CHECK (agree > 0),
    -- Browsers to which the item can still be assigned now. 0 for gold items, and for files that
    -- cannot be shown (reason).
    open_places integer NOT NULL CHECK (open_places >= 0),
    answer text,
    agreed integer NOT NULL DEFAULT 0 CHECK (agreed >= 0),
    reason text NOT NULL DEFAULT '',
    asked_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    ended_at timestamptz,
    -- Its annotations are included in the scores of their browsers.
    scored boolean NOT NULL DEFAULT false,
    -- Of a gold item: the position and size of its line in the file of gold items.
    line_at bigint,
    line_size bigint,
    UNIQUE (task_uid, job_id),
    CHECK ((job_id IS NULL) = (known_answer IS NOT NULL)),
    CHECK ((state IN ('decided', 'delivering', 'delivered')) <= (answer IS NOT NULL)),
    CHECK ((state IN ('delivered', 'withdrawn')) = (ended_at IS NOT NULL))
);

CREATE INDEX items_to_assign ON items (template, step, owner_group, position)
WHERE state IN ('open') AND open_places > 0;

CREATE INDEX items_gold ON items (template, step, owner_group, position)
WHERE known_answer IS NOT NULL;

CREATE INDEX items_decided ON items (decided_at) WHERE state IN ('decided');

CREATE INDEX items_delivering ON items (task_uid) WHERE state IN ('delivering');

CREATE INDEX items_refused ON items (task_uid, seq) WHERE reason <> '' AND ended_at IS NULL;

CREATE INDEX items_to_score ON items (position)
WHERE NOT scored AND state IN ('decided', 'delivering', 'delivered');

CREATE INDEX items_of_task ON items (task_uid, state);

-- Links that open the page of a step. Of the key of a link only the digest is stored.
CREATE TABLE links (
    uid uuid PRIMARY KEY,
    template text NOT NULL,
    step text NOT NULL,
    -- The group whose items it shows.
    owner_group text NOT NULL,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    -- The only person who may use it. NULL: everybody who has it.
    person text,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
);

CREATE INDEX links_of_step ON links (template, step, owner_group);

-- Browsers in which annotators opened a link, with a row for each step.
CREATE TABLE browsers (
    uid uuid PRIMARY KEY,
    template text NOT NULL,
    step text NOT NULL,
    -- The group whose items it shows.
    owner_group text NOT NULL,
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    link_uid uuid NOT NULL REFERENCES links,
    person text,
    user_agent text NOT NULL DEFAULT '',
    first_at timestamptz NOT NULL DEFAULT now(),
    last_at timestamptz NOT NULL DEFAULT now(),
    -- Numbers of items shown and of annotations.
    shown_item_count integer NOT NULL DEFAULT 0,
    answer_count integer NOT NULL DEFAULT 0,
    -- Kind of reference -> right answer -> given answer -> how often.
    evidence jsonb NOT NULL DEFAULT '{}',
    score double precision NOT NULL DEFAULT 0,
    state text NOT NULL DEFAULT 'counted' CHECK (state IN ('counted', 'excluded')),
    reason text NOT NULL DEFAULT '',
    -- The person who set the state. It then does not change automatically.
    set_by text,
    -- A digest of the network address.
    origin bytea
);

CREATE INDEX browsers_of_step ON browsers (template, step, owner_group, last_at);

CREATE INDEX browsers_origin ON browsers (origin) WHERE origin IS NOT NULL;

-- Assignments of items to browsers, and the annotations. Each pair occurs once.
CREATE TABLE assignments (
    item_uid uuid NOT NULL REFERENCES items,
    browser_uid uuid NOT NULL REFERENCES browsers,
    assigned_until timestamptz,
    answer text,
    answered_at timestamptz,
    seconds real NOT NULL DEFAULT 0,
    counted boolean NOT NULL DEFAULT true,
    -- The item is a gold item, which is scored at once.
    gold boolean NOT NULL,
    scored boolean NOT NULL DEFAULT false,
    PRIMARY KEY (item_uid, browser_uid),
    CHECK ((answer IS NULL) = (answered_at IS NULL)),
    CHECK ((answer IS NULL) = (assigned_until IS NOT NULL))
) WITH (fillfactor = 70);

CREATE INDEX assignments_unanswered ON assignments (assigned_until) WHERE assigned_until IS NOT NULL;

CREATE INDEX assignments_of_browser ON assignments (browser_uid, answered_at);

CREATE INDEX assignments_to_score ON assignments (item_uid) WHERE gold AND NOT scored AND answer IS NOT NULL;

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
