"""Statements on data sets that somebody wants deleted, and on who needs them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sluice.contracts.states import ChainState
from sluice.servicekit.database import Connection

NEEDED_BY = f"""
-- Chains that have not ended, and have not released it.
SELECT chains.uid, chains.state, chains.ending, chains.template_name, chains.dataset_name
FROM datasets JOIN chains ON chains.uid = datasets.chain_uid
WHERE datasets.uid = $1 AND datasets.released_at IS NULL
AND chains.state IN ('{ChainState.IN_PROGRESS}', '{ChainState.UPLOADING}')
ORDER BY chains.position
"""

ASK = """
INSERT INTO deletions (dataset_uid, force, asked_at) VALUES ($1, $2, $3)
ON CONFLICT (dataset_uid) DO UPDATE SET force = deletions.force OR EXCLUDED.force
"""

ASKED = "SELECT dataset_uid, force FROM deletions ORDER BY asked_at LIMIT $1"
FORGET = "DELETE FROM deletions WHERE dataset_uid = $1"
KEEP_INPUT = "UPDATE inputs SET released_at = NULL WHERE dataset_uid = $1"


@dataclass(frozen=True, slots=True)
class Needing:
    """A chain that needs a data set. ``ending``: it is being stopped."""

    uid: UUID
    state: ChainState
    ending: bool
    template: str
    dataset: str


async def needed_by(connection: Connection, uid: UUID) -> list[Needing]:
    rows = await connection.fetch(NEEDED_BY, uid)
    return [
        Needing(row["uid"], ChainState(row["state"]), row["ending"] is not None, row["template_name"], row["dataset_name"])
        for row in rows
    ]


async def ask(connection: Connection, uid: UUID, *, force: bool, now: datetime) -> None:
    await connection.execute(ASK, uid, force, now)


async def asked(connection: Connection, *, limit: int) -> list[tuple[UUID, bool]]:
    """Data set, and whether it was asked for by force; the oldest first."""
    return [(row["dataset_uid"], row["force"]) for row in await connection.fetch(ASKED, limit)]


async def forget(connection: Connection, uid: UUID) -> None:
    await connection.execute(FORGET, uid)


async def keep_input(connection: Connection, uid: UUID) -> None:
    """Its deletion was refused: chains may start on it again."""
    await connection.execute(KEEP_INPUT, uid)
