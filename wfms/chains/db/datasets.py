"""Statements on the data sets of chains."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.datasets import Dataset
from sluice.contracts.life_cycles import states_before
from sluice.contracts.states import ChainDatasetStatus, ChainState
from sluice.servicekit.database import Connection
from wfms.chains.domain.transitions import DATASET_MOVES

INSERT_DATASET = """
INSERT INTO datasets (uid, chain_uid, name, step, port, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
"""

TAKE_DATASETS = """
-- Data sets of chain $1 that chain $2 takes over, all or none; $4: the ports that they have there.
INSERT INTO datasets (uid, chain_uid, name, step, port, status, created_at, watched_at, uploaded_at)
SELECT uid, $2, name, step, taken.port, $5, $6, watched_at, uploaded_at
FROM datasets JOIN unnest($3::uuid[], $4::text[]) AS taken (uid, port) USING (uid)
WHERE chain_uid = $1 AND released_at IS NULL
RETURNING uid
"""

MOVE_DATASETS = """
-- Under the chain's lock, as all that moves its data sets.
UPDATE datasets SET status = $3, released_at = CASE WHEN $5 THEN $6::timestamptz END
WHERE chain_uid = $1 AND uid = ANY($2::uuid[]) AND status = ANY($4::text[])
"""

#: Of a data set: a rerun takes over data sets of the chain before it, and either may be the last to
#: need them.
NEEDED_BY_NONE = """
NOT EXISTS (
    SELECT 1 FROM datasets AS other
    WHERE other.uid = {uid} AND other.step IS NOT NULL AND other.released_at IS NULL
)
"""

RELEASE_INPUT = f"""
UPDATE inputs SET released_at = $2
WHERE released_at IS NULL AND {NEEDED_BY_NONE.format(uid="dataset_uid")}
AND dataset_uid = ANY(ARRAY(
    SELECT dataset_uid FROM inputs WHERE dataset_uid = ANY($1::uuid[]) ORDER BY dataset_uid
    FOR UPDATE
))
"""

#: Of a data set: it is on the output storage, or may be without anybody having told: a chain has
#: asked for its upload.
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

UNDELIVERED = f"""
-- Released data sets of a chain that the watcher is not known to have taken over (it is not asked
-- to delete outputs that the DMS was asked to upload).
{_UNDELIVERED} AND chain_uid = $1 AND NOT {_MAY_BE_SAFE} {_OLDEST_FIRST}
"""

ALL_UNDELIVERED = f"{_UNDELIVERED} AND NOT {_MAY_BE_SAFE} {_OLDEST_FIRST} LIMIT $1"

OUTPUTS_UNDELIVERED = f"{_UNDELIVERED} AND {_MAY_BE_SAFE} {_OLDEST_FIRST} LIMIT $1"

HANDED_OVER = """
-- Of several chains, whose locks nobody has: in one order.
UPDATE datasets AS d SET handed_over_at = $2 FROM (
    SELECT chain_uid, uid FROM datasets
    WHERE uid = ANY($1::uuid[]) AND released_at IS NOT NULL AND handed_over_at IS NULL
    ORDER BY chain_uid, uid FOR UPDATE
) AS released
WHERE d.chain_uid = released.chain_uid AND d.uid = released.uid
"""

UPLOADS_TO_WATCH = f"""
-- Workflow outputs under way to the output storage that the watcher was not told of.
SELECT datasets.uid, datasets.chain_uid, datasets.step, chains.dataset_uid
FROM datasets JOIN chains ON chains.uid = datasets.chain_uid
JOIN LATERAL jsonb_to_recordset(chains.plan->'outputs') AS output (step text, port text)
    ON output.step = datasets.step AND output.port = datasets.port
WHERE chains.state = '{ChainState.UPLOADING}' AND datasets.watched_at IS NULL
    AND datasets.uploaded_at IS NULL
LIMIT $1
"""

MARK_WATCHED = """
UPDATE datasets SET watched_at = $3
WHERE chain_uid = $1 AND uid = $2 AND watched_at IS NULL
"""

MARK_UPLOADED = """
UPDATE datasets SET uploaded_at = $3
WHERE chain_uid = $1 AND uid = $2 AND uploaded_at IS NULL
"""

CHAIN_THAT_MADE = """
SELECT chain_uid FROM datasets WHERE uid = $1 AND step IS NOT NULL ORDER BY created_at LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class OutputUpload:
    """A workflow output on its way to the output storage. ``source``: the chain's input."""

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
    """``step`` and ``port``: what writes it, the port None for its logs. Without a step it is
    complete from the start: the chain's input, or the file that is the value of the parameter
    ``port``. Repetitions change nothing."""
    status = ChainDatasetStatus.READY if step is None else ChainDatasetStatus.IN_PROGRESS
    await connection.execute(
        INSERT_DATASET, dataset.uid, chain, dataset.name, step, port, status, now
    )


async def take_datasets(
    connection: Connection, chain: UUID, *, before: UUID, ports: Mapping[UUID, str], now: datetime
) -> bool:
    """``ports``: of the data sets that the chain takes over from the chain ``before``. False where
    that has given one up."""
    status = ChainDatasetStatus.READY
    taken = await connection.fetch(
        TAKE_DATASETS, before, chain, list(ports), list(ports.values()), status, now
    )
    return len(taken) == len(ports)


async def move_datasets(
    connection: Connection,
    chain: UUID,
    uids: Sequence[UUID],
    *,
    to: ChainDatasetStatus,
    now: datetime,
) -> None:
    release = to is ChainDatasetStatus.FINISHED
    await connection.execute(
        MOVE_DATASETS, chain, list(uids), to, states_before(DATASET_MOVES, to), release, now
    )


async def release_input(connection: Connection, uids: Sequence[UUID], *, now: datetime) -> None:
    """Marks those that are first inputs as gone: no further chain may start on them."""
    await connection.execute(RELEASE_INPUT, list(uids), now)


async def releases_of(connection: Connection, chain: UUID) -> list[UUID]:
    return [row["uid"] for row in await connection.fetch(UNDELIVERED, chain)]


async def all_undelivered(connection: Connection, *, limit: int) -> list[UUID]:
    return [row["uid"] for row in await connection.fetch(ALL_UNDELIVERED, limit)]


async def outputs_undelivered(connection: Connection, *, limit: int) -> list[UUID]:
    """Released workflow outputs that are, or may be, on the output storage and that the DMS is not
    known to have taken over."""
    return [row["uid"] for row in await connection.fetch(OUTPUTS_UNDELIVERED, limit)]


async def mark_handed_over(connection: Connection, uids: Sequence[UUID], *, now: datetime) -> None:
    await connection.execute(HANDED_OVER, list(uids), now)


async def uploads_to_watch(connection: Connection, *, limit: int) -> list[OutputUpload]:
    """Those that the watcher was not told of."""
    return [
        OutputUpload(row["uid"], row["chain_uid"], row["step"], row["dataset_uid"])
        for row in await connection.fetch(UPLOADS_TO_WATCH, limit)
    ]


async def mark_watched(connection: Connection, upload: OutputUpload, *, now: datetime) -> None:
    await connection.execute(MARK_WATCHED, upload.chain, upload.dataset, now)


async def mark_uploaded(connection: Connection, uid: UUID, *, chain: UUID, now: datetime) -> None:
    await connection.execute(MARK_UPLOADED, chain, uid, now)


async def chain_that_made(connection: Connection, uid: UUID) -> UUID | None:
    """Not those that read the data set, nor those that have taken it over."""
    chain: UUID | None = await connection.fetchval(CHAIN_THAT_MADE, uid)
    return chain
