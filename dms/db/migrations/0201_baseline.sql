-- The database of the DMS: the catalogue of data sets, files and storages.

-- Data-taking periods of the detector.
CREATE TABLE periods (
    name text PRIMARY KEY,
    goal text NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    runs integer NOT NULL DEFAULT 0 CHECK (runs >= 0),
    CHECK (ended_at >= started_at)
);

-- Runs within periods.
CREATE TABLE runs (
    number bigint PRIMARY KEY CHECK (number >= 0),
    period text NOT NULL REFERENCES periods,
    conditions jsonb NOT NULL,
    started_at timestamptz,
    ended_at timestamptz,
    frames integer NOT NULL DEFAULT 0 CHECK (frames >= 0),
    CHECK (ended_at >= started_at)
);

CREATE INDEX runs_period ON runs (period, number);

-- Places that hold files.
CREATE TABLE storages (
    id uuid PRIMARY KEY,
    name text NOT NULL UNIQUE,
    type text NOT NULL CHECK (type IN ('input', 'intermediate', 'output', 'logs')),
    url text NOT NULL UNIQUE,
    capacity bigint CHECK (capacity > 0),
    read_only boolean NOT NULL,
    enabled boolean NOT NULL DEFAULT true
);

-- Bytes added to and (negative) removed from each storage. Rows are inserted only, so that
-- registrations do not wait for each other at a counter. A loop adds them up.
CREATE TABLE storage_usage (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    storage_id uuid NOT NULL REFERENCES storages,
    bytes bigint NOT NULL
);

CREATE INDEX storage_usage_storage ON storage_usage (storage_id);

-- Numbers of closed data sets, in the order of their closing.
CREATE SEQUENCE closed_positions;

-- Data sets: named lists of files.
CREATE TABLE datasets (
    uid uuid PRIMARY KEY,
    position bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    name text NOT NULL UNIQUE,
    type text NOT NULL CHECK (type IN ('input', 'intermediate', 'output', 'logs')),
    state text NOT NULL DEFAULT 'open' CHECK (
        state IN ('open', 'closed', 'uploading', 'uploaded', 'deleting', 'deleted')),
    meta jsonb NOT NULL,
    period text REFERENCES periods,
    run bigint REFERENCES runs,
    on_demand boolean NOT NULL,
    url text,
    request jsonb NOT NULL,
    count_files bigint NOT NULL DEFAULT 0 CHECK (count_files >= 0),
    bytes bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
    registered_at timestamptz NOT NULL DEFAULT now(),
    close_at bigint CHECK (close_at >= 0),
    closed_at timestamptz,
    closed_position bigint,
    upload_requested_at timestamptz,
    upload_storage_id uuid REFERENCES storages,
    upload_url text,
    uploaded_at timestamptz,
    deleted_at timestamptz,
    sweep_at timestamptz,
    late_files boolean NOT NULL DEFAULT false,
    claim_token uuid,
    claim_until timestamptz,
    failures integer NOT NULL DEFAULT 0,
    retry_at timestamptz,
    reason text,
    halted_at timestamptz,
    -- Name of a count -> sum over the files.
    counts jsonb NOT NULL DEFAULT '{}',
    -- Number of released files.
    released bigint NOT NULL DEFAULT 0,
    -- A task released files that are not registered yet.
    read_ahead boolean NOT NULL DEFAULT false,
    -- The person who created it. NULL: not known.
    owner text,
    -- The group that sees and changes it.
    owner_group text NOT NULL DEFAULT 'everyone',
    -- Other groups that see it.
    shared_with text[] NOT NULL DEFAULT '{}',
    -- The name by which chains append to it. NULL: it is not append-only.
    append_only text,
    -- A SliceOf. NULL: it is no slice.
    slice jsonb,
    -- Conditions of the run, which never change: copied, so that reading needs no join.
    conditions jsonb NOT NULL DEFAULT '{}',
    -- Its files are copies of files that their producer keeps.
    copied boolean NOT NULL DEFAULT false,
    -- Why its upload cannot succeed. It is halted, too.
    lost text,
    CHECK ((closed_at IS NULL) = (closed_position IS NULL)),
    CHECK (state <> 'open' OR closed_at IS NULL),
    CHECK (closed_at IS NOT NULL
        OR state NOT IN ('closed', 'uploading', 'uploaded')),
    CHECK (state <> 'uploading' OR upload_requested_at IS NOT NULL),
    CHECK (state <> 'uploaded'
        OR (uploaded_at IS NOT NULL AND url IS NOT NULL AND type = 'output')),
    CHECK ((state = 'deleted') = (deleted_at IS NOT NULL)),
    CHECK ((upload_storage_id IS NULL) = (upload_url IS NULL)),
    CHECK ((claim_token IS NULL) = (claim_until IS NULL)),
    CHECK (halted_at IS NULL OR reason IS NOT NULL)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX datasets_closed ON datasets (closed_position) WHERE closed_position IS NOT NULL;

CREATE INDEX datasets_closed_by_type ON datasets (type, closed_position)
    WHERE closed_position IS NOT NULL;

CREATE INDEX datasets_state ON datasets (state, position);

CREATE INDEX datasets_closing ON datasets (position) WHERE state = 'open' AND close_at IS NOT NULL;

CREATE INDEX datasets_working ON datasets (state, position)
    WHERE state IN ('uploading', 'deleting');

CREATE INDEX datasets_sweep ON datasets (sweep_at) WHERE sweep_at IS NOT NULL;

CREATE INDEX datasets_url ON datasets (url) WHERE url IS NOT NULL;

-- Unregistered files in the folder of a data set are removed, so each folder has one data set.
CREATE UNIQUE INDEX datasets_folder ON datasets (url)
    WHERE type <> 'input' AND state <> 'deleted';

CREATE INDEX datasets_output_name ON datasets ((meta->>'output_name')) WHERE meta ? 'chain';

CREATE INDEX datasets_group ON datasets (owner_group)
WHERE state <> 'deleted' AND owner_group <> 'everyone';

CREATE INDEX datasets_owner ON datasets (owner) WHERE state <> 'deleted';

CREATE INDEX datasets_append_only ON datasets (position)
WHERE append_only IS NOT NULL AND state = 'open';

-- Files, which never change.
CREATE TABLE files (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    size bigint NOT NULL CHECK (size >= 0),
    checksum bytea NOT NULL CHECK (length(checksum) = 32),
    meta jsonb NOT NULL,
    origin jsonb,
    registered_at timestamptz NOT NULL DEFAULT now()
);

-- Files of data sets. Here and in replicas the uids and ids name rows that are never deleted, and
-- the transaction that adds files locks the row of the data set. Foreign keys would take half the
-- time of a registration (docs/adr/0001).
CREATE TABLE dataset_files (
    dataset_uid uuid NOT NULL,
    name text NOT NULL,
    seq bigint NOT NULL CHECK (seq >= 0),
    file_id bigint NOT NULL,
    -- When all tasks that read the data set had released the file. Its replicas are then removed.
    released_at timestamptz,
    PRIMARY KEY (dataset_uid, name)
);

CREATE UNIQUE INDEX dataset_files_order ON dataset_files (dataset_uid, seq, name);

CREATE INDEX dataset_files_file ON dataset_files (file_id);

-- Copies of files on storages. path: below the URL of the storage, without a leading slash.
CREATE TABLE replicas (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    file_id bigint NOT NULL,
    storage_id uuid NOT NULL,
    path text NOT NULL CHECK (path <> '' AND NOT starts_with(path, '/')),
    state text NOT NULL DEFAULT 'available' CHECK (state IN ('available', 'deleting', 'deleted')),
    deleted_at timestamptz,
    CHECK ((state = 'deleted') = (deleted_at IS NOT NULL))
);

CREATE UNIQUE INDEX replicas_place ON replicas (storage_id, path) WHERE state <> 'deleted';

CREATE INDEX replicas_file ON replicas (file_id);

-- Numbered pieces of runs.
CREATE TABLE frames (
    run bigint NOT NULL REFERENCES runs,
    number bigint NOT NULL CHECK (number >= 0),
    file_id bigint REFERENCES files,
    meta jsonb NOT NULL,
    PRIMARY KEY (run, number)
);

CREATE INDEX frames_file ON frames (file_id) WHERE file_id IS NOT NULL;

-- High and low watermarks. At most 1: a part of the capacity of the storage. More: bytes.
CREATE TABLE watermarks (
    storage_id uuid PRIMARY KEY REFERENCES storages,
    low double precision NOT NULL CHECK (low > 0),
    high double precision NOT NULL CHECK (high > 0),
    -- When it reached the high watermark. NULL: it is below the low watermark again.
    filling_since timestamptz
);

-- Folders of local storages, with links resolved, from when the storage was registered or last
-- enabled. A storage without a row has no local folder, or was not accessible.
CREATE TABLE storage_folders (
    storage_id uuid PRIMARY KEY REFERENCES storages,
    path text NOT NULL
);

-- Files that only some of their tasks have released, or that are not registered yet. wanted: number
-- of tasks that read the file.
CREATE TABLE file_reads (
    dataset_uid uuid NOT NULL,
    seq bigint NOT NULL,
    released_by uuid[] NOT NULL,
    wanted integer NOT NULL CHECK (wanted > 0),
    PRIMARY KEY (dataset_uid, seq)
);

-- Released files whose replicas are to be removed. not_before: the end of the claim of an instance.
CREATE TABLE removals (
    file_id bigint NOT NULL,
    dataset_uid uuid NOT NULL,
    not_before timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (file_id, dataset_uid)
);

CREATE INDEX removals_due ON removals (not_before, file_id);

-- How much of a quantity the members of a group, or a person, may use.
CREATE TABLE quotas (
    kind text NOT NULL CHECK (kind IN ('group', 'person')),
    name text NOT NULL,
    quantity text NOT NULL CHECK (quantity IN ('chains', 'bytes', 'files', 'waiting')),
    most bigint NOT NULL CHECK (most >= 0),
    PRIMARY KEY (kind, name, quantity)
);

-- What was appended to append-only data sets (append_only): each source once.
CREATE TABLE collections (
    source_uid uuid NOT NULL,
    append_only text NOT NULL,
    owner_group text NOT NULL,
    append_only_uid uuid NOT NULL,
    files bigint NOT NULL CHECK (files >= 0),
    at timestamptz NOT NULL DEFAULT now(),
    -- Generation of the chain that made the files. 0: no trigger on a slice started it.
    generation integer NOT NULL DEFAULT 0 CHECK (generation >= 0),
    -- The files have lower numbers in the append-only data set.
    until bigint,
    PRIMARY KEY (source_uid, append_only, owner_group)
);

CREATE INDEX collections_generations ON collections (append_only_uid, until, generation)
WHERE generation > 0 AND files > 0;

-- Slices of append-only data sets. A reader got each file with a number below "used" once.
CREATE TABLE slices (
    append_only_uid uuid NOT NULL,
    reader text NOT NULL,
    number bigint NOT NULL CHECK (number >= 1),
    used bigint NOT NULL CHECK (used >= 1),
    -- The time of the schedule for which it was cut. NULL: it was cut because of growth.
    occasion text,
    dataset_uid uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    -- Generation of the chain that reads it: one more than the highest of its files.
    generation integer NOT NULL DEFAULT 1 CHECK (generation >= 1),
    PRIMARY KEY (append_only_uid, reader, number),
    UNIQUE (append_only_uid, reader, occasion)
);

CREATE INDEX slices_dataset ON slices (dataset_uid);

-- Storages that lack space for outputs of paused tasks.
CREATE TABLE space_needed (
    storage_id uuid PRIMARY KEY REFERENCES storages (id) ON DELETE CASCADE,
    -- Bytes that the WMS last asked for.
    needed bigint NOT NULL CHECK (needed >= 0),
    -- An old request no longer counts.
    told_at timestamptz NOT NULL DEFAULT now()
);

-- Who registered a period or a run, and may set its end.
CREATE TABLE span_owners (
    -- "period NAME" or "run NUMBER".
    span text PRIMARY KEY,
    owner text NOT NULL
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
