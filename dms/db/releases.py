"""Released files: files that are deleted before their data set is.

All statements except those on removals need the lock on the row of the data set.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sluice.contracts.messaging.messages import ReleaseFiles
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

NOTE_READS = """
-- Skip released files. $4 is the task that is done with the files, one of $3 tasks.
INSERT INTO file_reads (dataset_uid, seq, released_by, wanted)
SELECT DISTINCT $1::uuid, given.seq, ARRAY[$4::uuid], $3::integer
FROM unnest($2::bigint[]) AS given (seq)
WHERE NOT EXISTS (
    SELECT FROM dataset_files AS f
    WHERE f.dataset_uid = $1 AND f.seq = given.seq AND f.released_at IS NOT NULL
)
ORDER BY given.seq
ON CONFLICT (dataset_uid, seq) DO UPDATE
SET released_by = file_reads.released_by || excluded.released_by
WHERE NOT file_reads.released_by @> excluded.released_by
"""

SELECT_DONE = """
-- The numbers of files that all downstream tasks are done with.
SELECT given.seq FROM unnest($2::bigint[]) AS given (seq)
JOIN file_reads AS r ON r.dataset_uid = $1 AND r.seq = given.seq
WHERE cardinality(r.released_by) >= r.wanted
"""

RELEASE = """
-- Release registered files, and return the numbers that no file has.
WITH released AS (
    -- now() is too early: the transaction may have waited for the lock on the data set.
    UPDATE dataset_files SET released_at = statement_timestamp()
    WHERE dataset_uid = $1 AND seq = ANY($2::bigint[]) AND released_at IS NULL
    RETURNING file_id
), removals AS (
    INSERT INTO removals (file_id, dataset_uid) SELECT file_id, $1 FROM released
    ON CONFLICT DO NOTHING
), counted AS (
    UPDATE datasets SET released = released + (SELECT count(*) FROM released) WHERE uid = $1
)
SELECT array(
    SELECT given.seq FROM unnest($2::bigint[]) AS given (seq)
    WHERE NOT EXISTS (
        SELECT FROM dataset_files AS f WHERE f.dataset_uid = $1 AND f.seq = given.seq
    )
)
"""

_FORGET_READS = "DELETE FROM file_reads WHERE dataset_uid = $1 AND seq = ANY($2::bigint[])"

_FORGET_ALL_READS = "DELETE FROM file_reads WHERE dataset_uid = $1"

_SET_READ_AHEAD = "UPDATE datasets SET read_ahead = true WHERE uid = $1 AND NOT read_ahead"

TAKE_REMOVALS = """
-- Instances share the removals. Those of an instance that died are due again later.
UPDATE removals AS r SET not_before = now() + $2
FROM (
    SELECT file_id, dataset_uid FROM removals WHERE not_before <= now()
    ORDER BY not_before, file_id LIMIT $1 FOR UPDATE SKIP LOCKED
) AS due
WHERE r.file_id = due.file_id AND r.dataset_uid = due.dataset_uid
RETURNING r.dataset_uid, r.file_id
"""

_DROP_REMOVALS = statement("""
-- Keep removals of files with a replica that could not be removed.
DELETE FROM removals AS g
WHERE g.dataset_uid = $1 AND g.file_id = ANY($2::bigint[])
    AND NOT EXISTS (
        SELECT FROM replicas AS r
        WHERE r.file_id = g.file_id AND r.state = '{replica.DELETING}'
    )
""")


@dataclass(frozen=True, slots=True)
class Removal:
    """A released file of a data set whose replicas are to be removed."""

    dataset: UUID
    file_id: int


async def note_reads(connection: Connection, message: ReleaseFiles) -> None:
    """Record that a task no longer needs files; files that are released already are skipped."""
    await connection.execute(
        NOTE_READS,
        message.dataset_uid,
        message.seqs,
        message.downstream_count,
        message.task_uid,
    )


async def list_unneeded_numbers(
    connection: Connection, uid: UUID, seqs: Sequence[int]
) -> list[int]:
    """Return those of the numbers whose files, registered or not, tasks no longer need."""
    return [row["seq"] for row in await connection.fetch(SELECT_DONE, uid, seqs)]


async def release(connection: Connection, uid: UUID, seqs: Sequence[int]) -> list[int]:
    """Release the files with these numbers, and return the numbers that no file has yet."""
    unknown: list[int] = await connection.fetchval(RELEASE, uid, seqs)
    return unknown


async def forget_reads(connection: Connection, uid: UUID, seqs: Sequence[int]) -> None:
    """Delete the records of which tasks released the files with these numbers."""
    await connection.execute(_FORGET_READS, uid, seqs)


async def forget_all_reads(connection: Connection, uid: UUID) -> None:
    """Delete the records of which tasks released files of a data set."""
    await connection.execute(_FORGET_ALL_READS, uid)


async def set_read_ahead(connection: Connection, uid: UUID) -> None:
    """Record that tasks released files of the data set before their registration.

    Registrations then check for such records.
    """
    await connection.execute(_SET_READ_AHEAD, uid)


async def take_removals(connection: Connection, *, limit: int, seconds: float) -> list[Removal]:
    """Take due removals for this instance for ``seconds``."""
    rows = await connection.fetch(TAKE_REMOVALS, limit, timedelta(seconds=seconds))
    return [Removal(row["dataset_uid"], row["file_id"]) for row in rows]


async def drop_removals(connection: Connection, uid: UUID, file_ids: Sequence[int]) -> None:
    """Delete the removals of files that have no replica left to remove."""
    await connection.execute(_DROP_REMOVALS, uid, file_ids)
