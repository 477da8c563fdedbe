"""SQL on data sets that somebody wants deleted, and on the chains that need them."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from sluice.contracts.common.states import ChainState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

_NEEDED = statement("""
FROM datasets JOIN chains ON chains.uid = datasets.chain_uid
WHERE datasets.uid = {{uid}} AND datasets.released_at IS NULL
AND chains.state IN ('{chain.IN_PROGRESS}', '{chain.UPLOADING}')
""")

_SELECT_NEEDING_CHAINS = f"""
-- Chains that have not ended and have not released the data set.
SELECT chains.uid, chains.state, chains.ending, chains.template_name, chains.dataset_name
{_NEEDED.format(uid="$1")} ORDER BY chains.position
"""

_INSERT_DELETION = """
INSERT INTO deletions (dataset_uid, force, asked_at) VALUES ($1, $2, $3)
ON CONFLICT (dataset_uid) DO UPDATE SET force = deletions.force OR EXCLUDED.force
"""

_NEEDED_BY_IT = _NEEDED.format(uid="deletions.dataset_uid")

_CLAIM_DELETIONS = statement(f"""
-- Claim deletions that can proceed: no chain needs the data set, or a chain can be canceled.
-- Deletions that wait for chains do not block others. A failed deletion comes last after its claim
-- has expired.
UPDATE deletions SET claim_token = $1, claimed_until = now() + $2
WHERE dataset_uid IN (
    SELECT dataset_uid FROM deletions
    WHERE (claimed_until IS NULL OR claimed_until <= now()) AND (
        NOT EXISTS (SELECT 1 {_NEEDED_BY_IT})
        OR EXISTS (
            SELECT 1 {_NEEDED_BY_IT} AND chains.state = '{{chain.IN_PROGRESS}}'
                AND chains.ending IS NULL
        )
    )
    ORDER BY coalesce(claimed_until, asked_at) LIMIT $3 FOR UPDATE SKIP LOCKED
)
RETURNING dataset_uid, force
""")

_UNCLAIM = """
-- Release all claims of a token, or one of them.
UPDATE deletions SET claim_token = NULL, claimed_until = NULL
WHERE dataset_uid = ANY(ARRAY(
    SELECT dataset_uid FROM deletions
    WHERE claim_token = $1 AND ($2::uuid IS NULL OR dataset_uid = $2) ORDER BY dataset_uid
    FOR UPDATE
))
"""

_FORGET = "DELETE FROM deletions WHERE dataset_uid = $1"
_FORGET_REFUSED = "DELETE FROM deletions WHERE dataset_uid = $1 AND force = $2 RETURNING 1"
_MARK_INPUT_RELEASED = (
    "UPDATE inputs SET released_at = $2 WHERE dataset_uid = $1 AND released_at IS NULL"
)
_RESTORE_INPUT = "UPDATE inputs SET released_at = NULL WHERE dataset_uid = $1"


@dataclass(frozen=True, slots=True)
class DependentChain:
    """A chain that needs a data set; ``ending`` if it is being stopped."""

    uid: UUID
    state: ChainState
    ending: bool
    template: str
    dataset: str


async def list_dependent_chains(connection: Connection, uid: UUID) -> list[DependentChain]:
    """Return the chains that have not ended and have not released the data set."""
    rows = await connection.fetch(_SELECT_NEEDING_CHAINS, uid)
    return [
        DependentChain(
            row["uid"],
            ChainState(row["state"]),
            row["ending"] is not None,
            row["template_name"],
            row["dataset_name"],
        )
        for row in rows
    ]


async def store_request(connection: Connection, uid: UUID, *, force: bool, now: datetime) -> None:
    """Store the request to delete a data set. A forced request stays forced."""
    await connection.execute(_INSERT_DELETION, uid, force, now)


async def claim(
    connection: Connection, token: UUID, *, claim_duration: timedelta, limit: int
) -> list[tuple[UUID, bool]]:
    """Claim deletions that can be carried out now, for the time ``claim_duration``.

    Returns:
        Each data set, and whether its deletion is forced.
    """
    return [
        (row["dataset_uid"], row["force"])
        for row in await connection.fetch(_CLAIM_DELETIONS, token, claim_duration, limit)
    ]


async def unclaim(connection: Connection, token: UUID, *, uid: UUID | None = None) -> None:
    """Give up the claim on one deletion, or on all of the token."""
    await connection.execute(_UNCLAIM, token, uid)


async def forget(connection: Connection, uid: UUID) -> None:
    """Delete the request."""
    await connection.execute(_FORGET, uid)


async def forget_refused(connection: Connection, uid: UUID, *, force: bool) -> bool:
    """Delete the request; return False if it is gone or was forced meanwhile."""
    return await connection.fetchval(_FORGET_REFUSED, uid, force) is not None


async def mark_input_released(connection: Connection, uid: UUID, *, now: datetime) -> None:
    """Mark a locked input as released.

    Chains no longer start on it or take it over, but the chain that wrote it may still have it.
    """
    await connection.execute(_MARK_INPUT_RELEASED, uid, now)


async def restore_input(connection: Connection, uid: UUID) -> None:
    """Allow chains to start on the input again, because its deletion was refused."""
    await connection.execute(_RESTORE_INPUT, uid)
