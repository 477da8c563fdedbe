-- The database of the operator service: templates, assets, secrets and accounts.

-- Published versions of templates.
CREATE TABLE templates (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- As it was written, and as JSON.
    text text NOT NULL,
    template jsonb NOT NULL CHECK (jsonb_typeof(template) = 'object'),
    plan jsonb NOT NULL CHECK (jsonb_typeof(plan) = 'object'),
    warnings jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz,
    -- The path of the file with the text; all files by path, if there are several.
    main text,
    files jsonb CONSTRAINT files_are_texts
        CHECK (jsonb_typeof(files) = 'object' AND files ? main),
    UNIQUE (name, version),
    CHECK (deleted_at IS NULL OR deleted_at >= created_at)
);

-- For the list that the intake polls.
CREATE INDEX templates_live ON templates (name, version DESC) WHERE deleted_at IS NULL;

-- Templates that were run without being published, and drafts.
CREATE TABLE run_templates (
    id uuid PRIMARY KEY,
    -- SHA-256 of all files. The same files are the same template.
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    name text NOT NULL,
    -- As in templates.
    main text NOT NULL,
    text text NOT NULL,
    files jsonb CHECK (jsonb_typeof(files) = 'object' AND files ? main),
    template jsonb NOT NULL CHECK (jsonb_typeof(template) = 'object'),
    plan jsonb NOT NULL CHECK (jsonb_typeof(plan) = 'object'),
    warnings jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(warnings) = 'array'),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Of the last run. NULL: a draft that nobody has run.
    run_at timestamptz,
    -- No longer listed. Its chains still show it.
    deleted_at timestamptz,
    owner text,
    owner_group text NOT NULL DEFAULT 'everyone',
    -- Whether somebody has run it who may publish templates for all groups: such a run of everyone
    -- may use secrets.
    sent_by_publisher boolean NOT NULL DEFAULT false
);

CREATE INDEX run_templates_listed ON run_templates (run_at DESC)
WHERE run_at IS NOT NULL AND deleted_at IS NULL;

-- Names of disabled templates, with all present and later versions.
CREATE TABLE disabled_templates (
    name text PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT now()
);

-- Secrets that tools may read.
CREATE TABLE secrets (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- Encrypted together with the name and version. NULL: it was removed. The row stays, so that
    -- the version is not used again.
    sealed bytea,
    -- Patterns of names of templates that may use it.
    templates text[] NOT NULL CHECK (cardinality(templates) > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,
    -- The group whose templates may use it.
    owner_group text NOT NULL DEFAULT 'everyone',
    PRIMARY KEY (name, version),
    CONSTRAINT secrets_removed_has_time CHECK ((sealed IS NULL) = (removed_at IS NOT NULL))
);

-- Versions of assets.
CREATE TABLE assets (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    -- SHA-256 of the paths and contents of all files.
    digest bytea NOT NULL CHECK (length(digest) = 32),
    dataset_uid uuid NOT NULL UNIQUE,
    files jsonb NOT NULL CHECK (jsonb_typeof(files) = 'array'),
    note text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- New chains no longer get it. The version is not used again.
    removed_at timestamptz,
    -- When the DMS had accepted the deletion of its files.
    deleted_at timestamptz,
    check_tool jsonb CHECK (jsonb_typeof(check_tool) = 'object'),
    PRIMARY KEY (name, version),
    CONSTRAINT assets_deleted_when_removed CHECK (deleted_at IS NULL OR removed_at IS NOT NULL)
);

-- The same content is the same version, unless the version was removed.
CREATE UNIQUE INDEX assets_content ON assets (name, digest) WHERE removed_at IS NULL;

CREATE INDEX assets_to_delete ON assets (removed_at)
    WHERE removed_at IS NOT NULL AND deleted_at IS NULL;

-- Versions of assets whose files are being uploaded.
CREATE TABLE asset_drafts (
    dataset_uid uuid PRIMARY KEY,
    name text NOT NULL,
    -- Path, size and, if known, checksum of each file, in the order of the paths.
    files jsonb NOT NULL CHECK (jsonb_typeof(files) = 'array'),
    note text NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT now(),
    -- When it was given up. Its data set is to be deleted.
    given_up_at timestamptz,
    check_tool jsonb CHECK (jsonb_typeof(check_tool) = 'object')
);

-- Versions of tools from which templates are composed.
CREATE TABLE tools (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    text text NOT NULL,
    -- Inputs and outputs, for the search.
    ports jsonb NOT NULL CHECK (jsonb_typeof(ports) = 'object'),
    doc text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- New templates cannot use it. The version is not used again.
    removed_at timestamptz,
    PRIMARY KEY (name, version)
);

-- Accounts.
CREATE TABLE people (
    name text PRIMARY KEY,
    role text NOT NULL CHECK (role IN ('viewer', 'submitter', 'shift', 'admin')),
    -- Argon2id with salt and costs (RFC 9106). NULL: no sign-in with a password.
    password text,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Accounts are disabled, not deleted, so that a name always means the same person.
    disabled_at timestamptz,
    -- The subject at the OpenID Connect provider.
    subject text UNIQUE,
    groups text[] NOT NULL DEFAULT '{}'
);

-- API tokens.
CREATE TABLE person_tokens (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    -- A name without an account is possible: the token of the system itself.
    person text NOT NULL,
    label text NOT NULL,
    -- The highest role of the token. The role of the person limits it further.
    role text NOT NULL CHECK (role IN ('viewer', 'submitter', 'shift', 'admin')),
    -- SHA-256 of 256 random bits.
    digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    revoked_at timestamptz
);

CREATE INDEX person_tokens_person ON person_tokens (person, created_at);

-- Sessions of browsers.
CREATE TABLE person_sessions (
    -- SHA-256 of the cookie.
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    person text NOT NULL,
    role text NOT NULL CHECK (role IN ('viewer', 'submitter', 'shift', 'admin')),
    begun_at timestamptz NOT NULL DEFAULT now(),
    ends_at timestamptz NOT NULL,
    -- The token that began the session. The session ends with it.
    token uuid
);

CREATE INDEX person_sessions_person ON person_sessions (person);

CREATE INDEX person_sessions_end ON person_sessions (ends_at);

-- Owners of templates, for all versions, including deleted ones. Other names belong to everyone.
CREATE TABLE template_owners (
    name text PRIMARY KEY,
    -- The person who published the first version. NULL: not known.
    owner text,
    owner_group text NOT NULL,
    shared_with text[] NOT NULL DEFAULT '{}'
);

-- Sign-ins of the command that wait for a person to approve them in a browser.
CREATE TABLE device_logins (
    -- SHA-256 of the device code.
    digest bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    -- The code that people compare.
    user_code text NOT NULL UNIQUE,
    label text NOT NULL,
    -- The network address of the command.
    remote text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    -- The person who approved or refused it. NULL: nobody yet.
    person text,
    -- The highest role of the token. NULL: the sign-in was refused.
    role text CHECK (role IN ('viewer', 'submitter', 'shift', 'admin')),
    CHECK (person IS NOT NULL OR role IS NULL)
);

CREATE INDEX device_logins_person ON device_logins (person);

CREATE INDEX device_logins_end ON device_logins (expires_at);

-- Notifications about things that need a person.
CREATE TABLE notifications (
    -- What needs a person: 'unmatched:UID', 'chain:UID', 'task:UID TEXT' …
    key text PRIMARY KEY,
    -- The claim of an instance. Another instance may try after a while.
    claimed_at timestamptz NOT NULL DEFAULT now(),
    sent_at timestamptz
);

-- Owners of assets and tools, for all versions. Other names belong to everyone.
CREATE TABLE name_owners (
    kind text NOT NULL CHECK (kind IN ('asset', 'tool')),
    name text NOT NULL,
    -- The person who stored the first version. NULL: not known.
    owner text,
    owner_group text NOT NULL,
    PRIMARY KEY (kind, name)
);

-- Leases of clients such as the CWL runner. When a lease expires, its objects are removed.
CREATE TABLE client_leases (
    uid uuid PRIMARY KEY,
    -- Who may renew it.
    person text NOT NULL,
    chains uuid[] NOT NULL,
    datasets uuid[] NOT NULL,
    run_templates uuid[] NOT NULL,
    -- Also remove the data of finished chains.
    discard boolean NOT NULL,
    -- When the lease, or the claim of the instance that works on an expired one, ends.
    expires_at timestamptz NOT NULL,
    ended_at timestamptz
);

CREATE INDEX client_leases_end ON client_leases (expires_at);

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
