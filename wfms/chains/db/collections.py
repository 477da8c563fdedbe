"""SQL on outputs of chains that wait to be appended to append-only data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.chains.chains import ChainCollection
from sluice.contracts.data.append_only import Collect, Collected
from sluice.servicekit.database import Connection
from wfms.chains.domain.collecting import CollectableOutput

_INSERT_COLLECTION = """
INSERT INTO collections (chain_uid, dataset_uid, output, append_only, append_only_type, asked_at)
SELECT $1, uid, output, append_only, append_only_type, $6
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[]) AS asked
    (uid, output, append_only, append_only_type)
ON CONFLICT DO NOTHING
"""

_SELECT_WAITING = """
-- In the order in which the chains finished.
SELECT collections.chain_uid, collections.dataset_uid, append_only, append_only_type,
    chains.owner_group, chains.dataset_uid AS input
FROM collections JOIN chains ON chains.uid = chain_uid
WHERE collections.ended_at IS NULL ORDER BY asked_at, chain_uid, output LIMIT $1
"""

_END_COLLECTION = """
UPDATE collections SET ended_at = $3, append_only_uid = $4, files = $5, reason = $6
WHERE chain_uid = $1 AND dataset_uid = $2 AND ended_at IS NULL
"""

_SELECT_WAITING_OF_CHAIN = (
    "SELECT dataset_uid FROM collections WHERE chain_uid = $1 AND ended_at IS NULL"
)

_SELECT_COLLECTIONS = """
SELECT chain_uid, output, append_only AS name, append_only_uid AS append_only, files, reason
FROM collections WHERE chain_uid = ANY($1::uuid[]) ORDER BY chain_uid, output
"""


@dataclass(frozen=True, slots=True)
class WaitingCollection:
    """An output that waits; ``input`` is the chain's first input."""

    chain: UUID
    dataset: UUID
    into: Collect
    group: str
    input: UUID


async def ask_to_collect(
    connection: Connection, chain: UUID, outputs: Sequence[CollectableOutput], *, now: datetime
) -> None:
    """Queue outputs of a locked chain. Repeating it changes nothing."""
    await connection.execute(
        _INSERT_COLLECTION,
        chain,
        [output.dataset for output in outputs],
        [output.name for output in outputs],
        [output.into.name for output in outputs],
        [output.into.type for output in outputs],
        now,
    )


async def list_waiting_collections(
    connection: Connection, *, limit: int
) -> list[WaitingCollection]:
    """Return outputs that wait, in the order in which their chains finished."""
    return [
        WaitingCollection(
            row["chain_uid"],
            row["dataset_uid"],
            Collect(name=row["append_only"], type=row["append_only_type"]),
            row["owner_group"],
            row["input"],
        )
        for row in await connection.fetch(_SELECT_WAITING, limit)
    ]


async def end_collection(
    connection: Connection,
    collection: WaitingCollection,
    outcome: Collected | str,
    *,
    now: datetime,
) -> None:
    """Store the outcome, or the reason of a refusal, of a locked chain's output."""
    where, files, reason = (
        (None, None, outcome)
        if isinstance(outcome, str)
        else (outcome.append_only, outcome.files, "")
    )
    await connection.execute(
        _END_COLLECTION, collection.chain, collection.dataset, now, where, files, reason
    )


async def list_waiting_outputs(connection: Connection, chain: UUID) -> frozenset[UUID]:
    """Return the outputs of the chain that wait."""
    rows = await connection.fetch(_SELECT_WAITING_OF_CHAIN, chain)
    return frozenset(row["dataset_uid"] for row in rows)


async def list_collections(
    connection: Connection, chains: Sequence[UUID]
) -> dict[UUID, list[ChainCollection]]:
    """Return the collected outputs of each chain."""
    by_chain: dict[UUID, list[ChainCollection]] = {}
    for row in await connection.fetch(_SELECT_COLLECTIONS, list(chains)):
        fields = {key: value for key, value in row.items() if key != "chain_uid"}
        by_chain.setdefault(row["chain_uid"], []).append(ChainCollection(**fields))
    return by_chain
