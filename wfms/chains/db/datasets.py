"""SQL on the data sets of chains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.states import ChainDatasetStatus
from sluice.contracts.data.datasets import Dataset
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wfms.chains.domain.transitions import DATASET_MOVES

_INSERT_DATASET = """
INSERT INTO datasets (uid, chain_uid, name, step, port, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
"""

_TAKE_DATASETS = """
-- Copy data sets of chain $1 to chain $2, all or none. $4 are their ports in the new chain.
INSERT INTO datasets (uid, chain_uid, name, step, port, status, created_at, watched_at, uploaded_at)
SELECT uid, $2, name, step, taken.port, $5, $6, watched_at, uploaded_at
FROM datasets JOIN unnest($3::uuid[], $4::text[]) AS taken (uid, port) USING (uid)
WHERE chain_uid = $1 AND released_at IS NULL
RETURNING uid
"""

_MOVE_DATASETS = """
-- The caller holds the lock of the chain, as for every change of its data sets.
UPDATE datasets SET status = $3, released_at = CASE WHEN $5 THEN $6::timestamptz END
WHERE chain_uid = $1 AND uid = ANY($2::uuid[]) AND status = ANY($4::text[])
"""

#: True if no chain needs a data set. A rerun takes over data sets of the chain before it, and
#: either chain may be the last to need them.
NEEDED_BY_NONE = """
NOT EXISTS (
    SELECT 1 FROM datasets AS other
    WHERE other.uid = {uid} AND other.step IS NOT NULL AND other.released_at IS NULL
)
"""

_RELEASE_INPUT = f"""
UPDATE inputs SET released_at = $2
WHERE released_at IS NULL AND {NEEDED_BY_NONE.format(uid="dataset_uid")}
AND dataset_uid = ANY(ARRAY(
    SELECT dataset_uid FROM inputs WHERE dataset_uid = ANY($1::uuid[]) ORDER BY dataset_uid
    FOR UPDATE
))
"""

#: True if a data set is on the output storage, or may be there unreported, because a chain has
#: requested its upload.
_MAY_BE_SAFE = """(uploaded_at IS NOT NULL OR EXISTS (
    SELECT 1 FROM datasets AS other
    JOIN chains ON chains.uid = other.chain_uid AND chains.upload_asked
    JOIN LATERAL jsonb_to_recordset(chains.plan->'outputs') AS output (step text, port text)
        ON output.step = other.step AND output.port = other.port
    WHERE other.uid = datasets.uid
))"""

_UNDELIVERED = f"""
SELECT uid FROM datasets
WHERE released_at IS NOT NULL AND handed_over_at IS NULL
    AND {NEEDED_BY_NONE.format(uid="datasets.uid")}
"""

_OLDEST_FIRST = "GROUP BY uid ORDER BY min(released_at), min(name)"

_SELECT_UNDELIVERED = f"""
-- Released data sets of a chain that the watcher may not have received. The watcher does not delete
-- outputs that the DMS was asked to upload.
{_UNDELIVERED} AND chain_uid = $1 AND NOT {_MAY_BE_SAFE} {_OLDEST_FIRST}
"""

_SELECT_ALL_UNDELIVERED = f"{_UNDELIVERED} AND NOT {_MAY_BE_SAFE} {_OLDEST_FIRST} LIMIT $1"

_SELECT_UNDELIVERED_OUTPUTS = f"{_UNDELIVERED} AND {_MAY_BE_SAFE} {_OLDEST_FIRST} LIMIT $1"

_MARK_HANDED_OVER = """
-- The data sets belong to several unlocked chains: lock them in one order.
UPDATE datasets AS d SET handed_over_at = $2 FROM (
    SELECT chain_uid, uid FROM datasets
    WHERE uid = ANY($1::uuid[]) AND released_at IS NOT NULL AND handed_over_at IS NULL
    ORDER BY chain_uid, uid FOR UPDATE
) AS released
WHERE d.chain_uid = released.chain_uid AND d.uid = released.uid
"""

_SELECT_UPLOADS_TO_WATCH = statement("""
-- Workflow outputs that are being uploaded and that the watcher does not know.
SELECT datasets.uid, datasets.chain_uid, datasets.step, chains.dataset_uid
FROM datasets JOIN chains ON chains.uid = datasets.chain_uid
JOIN LATERAL jsonb_to_recordset(chains.plan->'outputs') AS output (step text, port text)
    ON output.step = datasets.step AND output.port = datasets.port
WHERE chains.state = '{chain.UPLOADING}' AND datasets.watched_at IS NULL
    AND datasets.uploaded_at IS NULL
LIMIT $1
""")

_MARK_WATCHED = """
UPDATE datasets SET watched_at = $3
WHERE chain_uid = $1 AND uid = $2 AND watched_at IS NULL
"""

_MARK_UPLOADED = """
UPDATE datasets SET uploaded_at = $3
WHERE chain_uid = $1 AND uid = $2 AND uploaded_at IS NULL
"""

_SELECT_PRODUCER = """
SELECT chain_uid FROM datasets WHERE uid = $1 AND step IS NOT NULL ORDER BY created_at LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class OutputUpload:
    """A workflow output that is being uploaded; ``source`` is the chain's input."""

    dataset: UUID
    chain: UUID
    step: str
    source: UUID


async def insert_chain_dataset(
    connection: Connection,
    chain: UUID,
    dataset: Dataset,
    *,
    step: str | None = None,
    port: str | None = None,
    now: datetime,
) -> None:
    """Insert a data set of a chain. Repetitions change nothing.

    ``step`` and ``port`` say what writes it; port None means the logs. Without a step it is
    complete from the start: the chain's input, or the file that is the value of the parameter
    ``port``.
    """
    status = ChainDatasetStatus.READY if step is None else ChainDatasetStatus.IN_PROGRESS
    await connection.execute(
        _INSERT_DATASET, dataset.uid, chain, dataset.name, step, port, status, now
    )


async def take_datasets(
    connection: Connection, chain: UUID, *, before: UUID, ports: Mapping[UUID, str], now: datetime
) -> bool:
    """Take data sets over from the chain ``before``; return False if it has released one.

    ``ports`` has the ports of these data sets in the new chain.
    """
    status = ChainDatasetStatus.READY
    taken_rows = await connection.fetch(
        _TAKE_DATASETS, before, chain, list(ports), list(ports.values()), status, now
    )
    return len(taken_rows) == len(ports)


async def move_datasets(
    connection: Connection,
    chain: UUID,
    uids: Sequence[UUID],
    *,
    to: ChainDatasetStatus,
    now: datetime,
) -> None:
    """Move the data sets of a locked chain to a status; ``FINISHED`` releases them."""
    release = to is ChainDatasetStatus.FINISHED
    await connection.execute(
        _MOVE_DATASETS, chain, list(uids), to, states_before(DATASET_MOVES, to), release, now
    )


async def release_input(connection: Connection, uids: Sequence[UUID], *, now: datetime) -> None:
    """Mark those that are first inputs as released: no further chain may start on them."""
    await connection.execute(_RELEASE_INPUT, list(uids), now)


async def list_releases(connection: Connection, chain: UUID) -> list[UUID]:
    """Return the chain's released data sets that the watcher is not known to have."""
    return [row["uid"] for row in await connection.fetch(_SELECT_UNDELIVERED, chain)]


async def list_all_undelivered(connection: Connection, *, limit: int) -> list[UUID]:
    """Return the released data sets of all chains that the watcher is not known to have."""
    return [row["uid"] for row in await connection.fetch(_SELECT_ALL_UNDELIVERED, limit)]


async def list_undelivered_outputs(connection: Connection, *, limit: int) -> list[UUID]:
    """Return released outputs for the DMS to delete.

    They may be on the output storage, and the DMS is not known to have taken them over.
    """
    return [row["uid"] for row in await connection.fetch(_SELECT_UNDELIVERED_OUTPUTS, limit)]


async def mark_handed_over(connection: Connection, uids: Sequence[UUID], *, now: datetime) -> None:
    """Record that released data sets were handed over."""
    await connection.execute(_MARK_HANDED_OVER, list(uids), now)


async def list_uploads_to_watch(connection: Connection, *, limit: int) -> list[OutputUpload]:
    """Return the uploads that the watcher does not know."""
    return [
        OutputUpload(row["uid"], row["chain_uid"], row["step"], row["dataset_uid"])
        for row in await connection.fetch(_SELECT_UPLOADS_TO_WATCH, limit)
    ]


async def mark_watched(connection: Connection, upload: OutputUpload, *, now: datetime) -> None:
    """Record that the watcher knows an upload."""
    await connection.execute(_MARK_WATCHED, upload.chain, upload.dataset, now)


async def mark_uploaded(connection: Connection, uid: UUID, *, chain: UUID, now: datetime) -> None:
    """Record that an output is safe on the output storage."""
    await connection.execute(_MARK_UPLOADED, chain, uid, now)


async def find_producer(connection: Connection, uid: UUID) -> UUID | None:
    """Return the chain that wrote the data set, not chains that read it or took it over."""
    chain: UUID | None = await connection.fetchval(_SELECT_PRODUCER, uid)
    return chain
