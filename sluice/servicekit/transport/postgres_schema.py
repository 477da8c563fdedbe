"""Tables and statements of the PostgreSQL transport, all in the schema ``sluice_transport``.

``message.holder`` names the transport instance that has claimed the message. The instance holds a
session-level advisory lock for its row in ``holder``. The lock ends with its connection, so a dead
instance is noticed at once. The lease (``due_at``) only matters for an instance that lives but does
not answer.
"""

import asyncpg

# Spells "slui". It is the first half of the two-part keys of advisory locks.
LOCK_CLASS = 0x736C7569
SCHEMA_LOCK = 0

CREATE = """
CREATE SCHEMA IF NOT EXISTS sluice_transport;
CREATE TABLE IF NOT EXISTS sluice_transport.message (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    queue text NOT NULL,
    id text NOT NULL,
    body bytea NOT NULL,
    sent_at timestamptz NOT NULL DEFAULT now(),
    due_at timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0,
    holder integer,
    reason text,
    PRIMARY KEY (queue, seq)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE TABLE IF NOT EXISTS sluice_transport.dead_letter (
    seq bigint GENERATED ALWAYS AS IDENTITY,
    queue text NOT NULL,
    id text NOT NULL,
    body bytea NOT NULL,
    reason text NOT NULL,
    died_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (queue, seq)
);
CREATE TABLE IF NOT EXISTS sluice_transport.holder (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    since timestamptz NOT NULL DEFAULT now()
);
"""

# $1 queues, $2 ids, $3 bodies. Messages are delivered in the order of the arrays. Each queue gets
# one wake-up.
SEND = """
WITH stored AS (
    INSERT INTO sluice_transport.message (queue, id, body)
    SELECT queue, id, body
    FROM unnest($1::text[], $2::text[], $3::bytea[]) WITH ORDINALITY AS sent (queue, id, body,
        place)
    ORDER BY place
    RETURNING queue)
SELECT pg_notify(left('sluice:' || queue, 63), '')
FROM (SELECT DISTINCT queue FROM stored) AS receivers
"""

# $1 queue, $2 how many, $3 holder, $4 lease in seconds
CLAIM = """
WITH due AS (
    SELECT queue, seq FROM sluice_transport.message
    WHERE queue = $1 AND due_at <= now()
        AND EXISTS (SELECT FROM sluice_transport.holder WHERE id = $3)
    ORDER BY seq LIMIT $2 FOR UPDATE SKIP LOCKED)
UPDATE sluice_transport.message AS m
SET attempts = attempts + 1, holder = $3, due_at = now() + make_interval(secs => $4)
FROM due WHERE m.queue = due.queue AND m.seq = due.seq
RETURNING m.seq, m.id, m.body, m.attempts, m.reason
"""

# The messages that are still claimed. Number, attempt and holder must match, so that a late answer
# has no effect. Rows are locked in the order of their numbers, so that an answer and a renewal do
# not block each other.
_CLAIMED_MESSAGES = """(
    SELECT message.queue, message.seq FROM sluice_transport.message
    JOIN unnest($2::bigint[], $3::int[]) AS named (seq, attempt)
        ON message.seq = named.seq AND message.attempts = named.attempt
    WHERE message.queue = $1 AND message.holder = $4
    ORDER BY message.seq FOR UPDATE OF message
) AS claimed WHERE m.queue = claimed.queue AND m.seq = claimed.seq"""

# $1 queue, $2 numbers, $3 attempts, $4 holder
ACK = f"DELETE FROM sluice_transport.message AS m USING {_CLAIMED_MESSAGES}"

# … $5 lease in seconds
RENEW = f"""
UPDATE sluice_transport.message AS m SET due_at = now() + make_interval(secs => $5)
FROM {_CLAIMED_MESSAGES}
"""

# … $5 pause in seconds, $6 reason (null: keep the previous one)
RELEASE = f"""
WITH freed AS (
    UPDATE sluice_transport.message AS m
    SET holder = NULL, due_at = now() + make_interval(secs => $5::float8),
        reason = coalesce($6, reason)
    FROM {_CLAIMED_MESSAGES}
    RETURNING m.queue)
SELECT pg_notify(left('sluice:' || queue, 63), '')
FROM (SELECT DISTINCT queue FROM freed WHERE $5 = 0) AS receivers
"""

# … $5 reason
DEAD_LETTER = f"""
WITH dead AS (
    DELETE FROM sluice_transport.message AS m USING {_CLAIMED_MESSAGES}
    RETURNING m.queue, m.id, m.body)
INSERT INTO sluice_transport.dead_letter (queue, id, body, reason)
SELECT queue, id, body, $5 FROM dead
"""

DEPTH = "SELECT count(*) FROM sluice_transport.message WHERE queue = $1 AND due_at <= now()"
DEAD_LETTERS = """
SELECT id, queue, body, reason, died_at FROM sluice_transport.dead_letter WHERE queue = $1
ORDER BY seq LIMIT $2
"""

COUNT_DEAD = "SELECT count(*) FROM sluice_transport.dead_letter WHERE queue = $1"

# $1 queue, $2 ids (null: all). Both statements return the number of messages.
_SELECTED = """queue = $1 AND seq = ANY(ARRAY(
    SELECT seq FROM sluice_transport.dead_letter
    WHERE queue = $1 AND ($2::text[] IS NULL OR id = ANY($2)) ORDER BY seq FOR UPDATE))"""
REQUEUE = f"""
WITH back AS (
    DELETE FROM sluice_transport.dead_letter WHERE {_SELECTED} RETURNING seq, queue, id, body
),
stored AS (
    INSERT INTO sluice_transport.message (queue, id, body)
    SELECT queue, id, body FROM back ORDER BY seq RETURNING queue)
SELECT count(*), pg_notify(left('sluice:' || $1, 63), '') FROM stored
"""
DROP = f"""
WITH gone AS (DELETE FROM sluice_transport.dead_letter WHERE {_SELECTED} RETURNING 1)
SELECT count(*) FROM gone
"""

REGISTER = """
WITH new AS (INSERT INTO sluice_transport.holder DEFAULT VALUES RETURNING id)
SELECT id, pg_try_advisory_lock($1, id) AS locked FROM new
"""
# $1 lock class
DEAD_HOLDERS = """
SELECT id FROM sluice_transport.holder WHERE id NOT IN (
    SELECT objid::bigint::integer FROM pg_locks
    WHERE locktype = 'advisory' AND classid = $1 AND objsubid = 2
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
# $1 holders
DEAD_LETTER_HOLDERS = """
WITH gone AS (
    DELETE FROM sluice_transport.holder WHERE id = ANY(ARRAY(
        SELECT id FROM sluice_transport.holder WHERE id = ANY($1::int[]) ORDER BY id FOR UPDATE))
    RETURNING id),
freed AS (
    UPDATE sluice_transport.message AS m SET holder = NULL, due_at = now()
    FROM (
        SELECT queue, seq FROM sluice_transport.message WHERE holder IN (SELECT id FROM gone)
        ORDER BY queue, seq FOR UPDATE
    ) AS claimed WHERE m.queue = claimed.queue AND m.seq = claimed.seq
    RETURNING m.queue)
SELECT pg_notify(left('sluice:' || queue, 63), '')
FROM (SELECT DISTINCT queue FROM freed) AS receivers
"""


def wake_channel(queue: str) -> str:
    """Return the notification channel of ``queue``, by the same rule as in the statements."""
    return f"sluice:{queue}".encode()[:63].decode(errors="ignore")


async def create_schema(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Create what is missing. Several instances may do this at the same time."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1, $2)", LOCK_CLASS, SCHEMA_LOCK)
        await connection.execute(CREATE)
