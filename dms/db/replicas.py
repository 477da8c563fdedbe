"""Replicas: their upload, deletion, and lookup."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from dms.db.claims import DatasetClaim
from dms.domain.transitions import DATASET_MOVES, REPLICA_MOVES
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import DatasetState, DatasetType, ReplicaState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

PAGE = """
SELECT seq, name, file_id FROM dataset_files WHERE dataset_uid = $1 AND (seq, name) > ($2, $3)
ORDER BY seq, name LIMIT $4
"""

_LOCK_AVAILABLE = """
-- No other transaction can link these files until this one ends. The order prevents deadlocks
-- between deletions.
SELECT id FROM replicas WHERE file_id = ANY($1::bigint[]) AND state = ANY($2::text[]) ORDER BY id
FOR UPDATE
"""

MARK_DELETING = statement("""
-- Mark the replicas that may be deleted: not those of another live data set that has not released
-- them, and not those below the folder that is kept. An uploaded data set needs only the replicas
-- in its own folder.
UPDATE replicas r SET state = $3
WHERE r.file_id = ANY($1::bigint[]) AND r.state = ANY($2::text[])
    AND NOT (r.storage_id IS NOT DISTINCT FROM $5 AND starts_with(r.path, $6))
    AND NOT EXISTS (
        SELECT 1 FROM dataset_files other JOIN datasets holder ON holder.uid = other.dataset_uid
        LEFT JOIN storages s ON s.id = holder.upload_storage_id
        WHERE other.file_id = r.file_id AND holder.uid <> $4
            AND holder.state NOT IN ('{dataset.DELETING}', '{dataset.DELETED}')
            AND other.released_at IS NULL
            AND (holder.state <> '{dataset.UPLOADED}' OR (
                r.storage_id = holder.upload_storage_id
                    AND starts_with(s.url || '/' || r.path, holder.upload_url || '/')
            ))
    )
""")

_SELECT_DELETING = statement("""
-- Replicas to delete, including those that an instance marked before it died.
SELECT id, storage_id, path FROM replicas
WHERE file_id = ANY($1::bigint[]) AND state = '{replica.DELETING}' ORDER BY id
""")

_MARK_DELETED = """
-- In order, because two data sets that share files may be deleted at the same time.
UPDATE replicas r SET state = $3, deleted_at = now() FROM files f
WHERE f.id = r.file_id AND r.state = ANY($2::text[])
    AND r.id = ANY(ARRAY(
        SELECT id FROM replicas WHERE id = ANY($1::bigint[]) ORDER BY id FOR UPDATE
    ))
RETURNING r.storage_id, f.size
"""

SELECT_MISSING = statement("""
-- Files without a replica below the upload's folder, with a replica to copy from.
SELECT d.seq, d.name, d.file_id, f.size, f.checksum, r.storage_id, r.path
FROM dataset_files d JOIN files f ON f.id = d.file_id
LEFT JOIN LATERAL (
    SELECT storage_id, path FROM replicas
    WHERE file_id = d.file_id AND state = '{replica.AVAILABLE}'
    ORDER BY id DESC LIMIT 1
) AS r ON true
WHERE d.dataset_uid = $1 AND (d.seq, d.name) > ($2, $3) AND NOT EXISTS (
    SELECT 1 FROM replicas there
    WHERE there.file_id = d.file_id AND there.storage_id = $4 AND there.path = $5 || d.name
        AND there.state = '{replica.AVAILABLE}'
)
ORDER BY d.seq, d.name LIMIT $6
""")

_INSERT_REPLICAS = statement("""
-- Return a row for each replica that was not recorded before.
INSERT INTO replicas (file_id, storage_id, path)
SELECT file_id, $2, path FROM unnest($1::bigint[], $3::text[]) AS made (file_id, path) ORDER BY path
ON CONFLICT (storage_id, path) WHERE state <> '{replica.DELETED}' DO NOTHING
RETURNING file_id
""")

_IS_FOLDER_SHARED = statement("""
-- Return whether another data set has this folder, too.
SELECT 1 FROM datasets WHERE url = $1 AND uid <> $2 AND state <> '{dataset.DELETED}' LIMIT 1
""")

_SELECT_FILE_NAMES = (
    "SELECT name FROM dataset_files WHERE dataset_uid = $1 AND name = ANY($2::text[])"
)

_SELECT_REGISTERED_PATHS = statement("""
-- The paths that the catalogue knows.
SELECT path FROM replicas
WHERE storage_id = $1 AND path = ANY($2::text[]) AND state <> '{replica.DELETED}'
""")

_SET_UPLOAD_PLACE = """
UPDATE datasets SET upload_storage_id = $4, upload_url = $5
WHERE uid = $1 AND claim_token = $2 AND state = $3 AND upload_storage_id IS NULL RETURNING 1
"""

_FINISH_UPLOAD = """
-- Every file is on the output storage. The folder that they came from is swept once more later.
UPDATE datasets
SET state = $4, type = $5, url = upload_url, uploaded_at = now(), claim_token = NULL,
    claim_until = NULL,
    failures = 0, retry_at = NULL, reason = NULL, sweep_at = now() + $6
WHERE uid = $1 AND claim_token = $2 AND state = ANY($3::text[]) RETURNING 1
"""

_CLEAR_LATE = """
UPDATE datasets SET late_files = false WHERE uid = $1 AND claim_token = $2 AND state = $3
RETURNING 1
"""

_FINISH_DELETION = """
-- Every replica is deleted, and no file was registered meanwhile. The folder is swept once more
-- later.
UPDATE datasets
SET state = $4, deleted_at = now(), claim_token = NULL, claim_until = NULL, failures = 0,
    retry_at = NULL,
    reason = NULL, sweep_at = now() + $5
WHERE uid = $1 AND claim_token = $2 AND state = ANY($3::text[]) AND NOT late_files RETURNING 1
"""

_FINISH_SWEEP = """
-- The folder is clean. After the first sweep, another one follows.
UPDATE datasets
SET claim_token = NULL, claim_until = NULL, failures = 0, retry_at = NULL, reason = NULL,
    sweep_at = CASE WHEN late_files THEN now()
        WHEN sweep_at < greatest(closed_at, uploaded_at, deleted_at) + $4 THEN now() + $4 END
WHERE uid = $1 AND claim_token = $2 AND state = $3
"""


@dataclass(frozen=True, slots=True)
class FilesPage:
    """A page of files of a data set, with the number and name of the last one."""

    file_ids: list[int]
    last: tuple[int, str]


@dataclass(frozen=True, slots=True)
class Replica:
    """A replica of a file on a storage."""

    id: int
    storage_id: UUID
    path: str


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A file that is still to be uploaded.

    ``storage_id`` and ``path`` name the replica to copy; they are None if there is none.
    """

    seq: int
    name: str
    file_id: int
    size: int
    checksum: bytes
    storage_id: UUID | None
    path: str | None


async def find_next_page(
    connection: Connection, uid: UUID, after: tuple[int, str], *, limit: int
) -> FilesPage | None:
    """Return the next page of files of a data set; None at the end."""
    rows = await connection.fetch(PAGE, uid, *after, limit)
    return (
        FilesPage([row["file_id"] for row in rows], (rows[-1]["seq"], rows[-1]["name"]))
        if rows
        else None
    )


async def mark_replicas_deleting(
    connection: Connection, uid: UUID, file_ids: Sequence[int], *, keep: tuple[UUID, str] | None
) -> list[Replica]:
    """Set the replicas of these files that may go to deleting, and return all in that state.

    The result includes replicas that an earlier attempt marked.

    Args:
        connection: A connection to the catalogue.
        uid: The data set that is deleted, or that releases the files.
        file_ids: The files.
        keep: Storage and folder (with its slash) of replicas that stay.
    """
    movable = states_before(REPLICA_MOVES, ReplicaState.DELETING)
    await connection.execute(_LOCK_AVAILABLE, file_ids, movable)
    storage, folder = keep or (None, "")
    moves = (movable, ReplicaState.DELETING, uid)
    await connection.execute(MARK_DELETING, file_ids, *moves, storage, folder)
    return [Replica(**row) for row in await connection.fetch(_SELECT_DELETING, file_ids)]


async def mark_replicas_deleted(
    connection: Connection, replica_ids: Sequence[int]
) -> list[tuple[UUID, int]]:
    """Set replicas to deleted; return storage and bytes of each that was not deleted before."""
    rows = await connection.fetch(
        _MARK_DELETED,
        replica_ids,
        states_before(REPLICA_MOVES, ReplicaState.DELETED),
        ReplicaState.DELETED,
    )
    return [(row["storage_id"], row["size"]) for row in rows]


async def list_missing_files(
    connection: Connection,
    uid: UUID,
    *,
    after: tuple[int, str],
    target: tuple[UUID, str],
    limit: int,
) -> list[MissingFile]:
    """Return a page of files that are not in the folder of the upload yet.

    Args:
        connection: A connection to the catalogue.
        uid: The data set.
        after: Number and name of the last file of the previous page.
        target: Storage and folder (with its slash) of the upload.
        limit: Largest number of files.
    """
    rows = await connection.fetch(SELECT_MISSING, uid, *after, *target, limit)
    return [MissingFile(**row) for row in rows]


async def insert_replicas(
    connection: Connection, storage_id: UUID, replicas: Sequence[tuple[int, str]]
) -> set[int]:
    """Record replicas on a storage, and return the files that were not recorded there before.

    Args:
        connection: A connection to the catalogue.
        storage_id: The storage.
        replicas: File and path of each replica.
    """
    rows = await connection.fetch(
        _INSERT_REPLICAS, [file for file, _ in replicas], storage_id, [path for _, path in replicas]
    )
    return {row["file_id"] for row in rows}


async def list_registered_paths(
    connection: Connection, storage_id: UUID, paths: Sequence[str]
) -> set[str]:
    """Return those of the paths at which the catalogue knows a file."""
    return {
        row["path"] for row in await connection.fetch(_SELECT_REGISTERED_PATHS, storage_id, paths)
    }


async def list_file_names(connection: Connection, uid: UUID, names: Sequence[str]) -> set[str]:
    """Return those of the names that files of the data set have."""
    return {row["name"] for row in await connection.fetch(_SELECT_FILE_NAMES, uid, names)}


async def is_folder_shared(connection: Connection, uid: UUID, url: str) -> bool:
    """Return whether another data set that is not deleted has the same folder."""
    return await connection.fetchval(_IS_FOLDER_SHARED, url, uid) is not None


async def set_upload_place(
    connection: Connection, claim: DatasetClaim, *, storage_id: UUID, url: str
) -> bool:
    """Set the place of an upload; return False if the claim is lost or a place is set already."""
    return (
        await connection.fetchval(
            _SET_UPLOAD_PLACE, claim.uid, claim.token, claim.state, storage_id, url
        )
        is not None
    )


async def finish_upload(connection: Connection, claim: DatasetClaim, *, sweep_again: float) -> bool:
    """Set a data set to uploaded; return False if the claim is lost."""
    moves = (
        states_before(DATASET_MOVES, DatasetState.UPLOADED),
        DatasetState.UPLOADED,
        DatasetType.OUTPUT,
    )
    done = await connection.fetchval(
        _FINISH_UPLOAD, claim.uid, claim.token, *moves, timedelta(seconds=sweep_again)
    )
    return done is not None


async def clear_late_files(connection: Connection, claim: DatasetClaim) -> bool:
    """Clear the mark for late files; return False if the claim is lost.

    Call it before the files of the data set are read: a later registration sets the mark again.
    """
    return await connection.fetchval(_CLEAR_LATE, claim.uid, claim.token, claim.state) is not None


async def finish_deletion(
    connection: Connection, claim: DatasetClaim, *, sweep_again: float
) -> bool:
    """Set a data set to deleted; return False if the claim is lost or files came meanwhile."""
    moves = (states_before(DATASET_MOVES, DatasetState.DELETED), DatasetState.DELETED)
    done = await connection.fetchval(
        _FINISH_DELETION, claim.uid, claim.token, *moves, timedelta(seconds=sweep_again)
    )
    return done is not None


async def finish_sweep(connection: Connection, claim: DatasetClaim, *, sweep_again: float) -> None:
    """End a sweep, and schedule the second sweep after the first one."""
    await connection.execute(
        _FINISH_SWEEP, claim.uid, claim.token, claim.state, timedelta(seconds=sweep_again)
    )
