"""SQL on chains that need a person: count and acknowledge them.

Partial indexes find them, whatever the number of chains.
"""

from datetime import datetime
from uuid import UUID

from sluice.contracts.access.owners import Visibility
from sluice.contracts.chains.attention import Acknowledgement, ChainCounts
from sluice.contracts.common.states import ChainState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement

UNDER_WAY = statement("""
SELECT state, count(*) AS chains FROM chains
WHERE state IN ('{chain.IN_PROGRESS}', '{chain.UPLOADING}')
    AND ($1::text[] IS NULL OR owner_group = ANY($1))
GROUP BY state
""")

#: Chains that need a person: failed ones that nobody has acknowledged, discarded or run again,
#: finished ones with undecided failed jobs, and those with a step whose reason says that it cannot
#: continue.
NEEDING_ATTENTION = statement("""
SELECT uid FROM chains
WHERE state = '{chain.FAILED}' AND acknowledged_at IS NULL AND NOT discarded
    AND NOT EXISTS (SELECT 1 FROM chains AS again WHERE again.rerun_of = chains.uid)
UNION SELECT uid FROM chains WHERE unsettled AND state = '{chain.FINISHED}'
UNION SELECT chain_uid FROM steps WHERE state = '{step.STARTING}' AND reason <> ''
UNION SELECT chain_uid FROM steps WHERE state = '{step.IN_PROGRESS}' AND reason <> ''
""")

COUNT_NEEDING_ATTENTION = f"""
SELECT count(*) FROM ({NEEDING_ATTENTION}) AS wanted
WHERE $1::text[] IS NULL
    OR EXISTS (SELECT FROM chains WHERE chains.uid = wanted.uid AND owner_group = ANY($1))
"""

_ACKNOWLEDGE = statement("""
-- Keep the name of the first person who acknowledges.
UPDATE chains SET acknowledged_by = $2, acknowledged_at = $3
WHERE uid = $1 AND acknowledged_at IS NULL
    AND (state = '{chain.FAILED}' OR state = '{chain.FINISHED}' AND unsettled)
RETURNING uid
""")

_SELECT_ACKNOWLEDGEMENT = (
    "SELECT state, acknowledged_by, acknowledged_at FROM chains WHERE uid = $1"
)


async def get_counts(connection: Connection, visibility: Visibility) -> ChainCounts:
    """Count the visible chains by state, and those that need a person."""
    groups = visibility.names()
    chains_by_state = {
        row["state"]: row["chains"] for row in await connection.fetch(UNDER_WAY, groups)
    }
    return ChainCounts(
        in_progress=chains_by_state.get(ChainState.IN_PROGRESS, 0),
        uploading=chains_by_state.get(ChainState.UPLOADING, 0),
        attention=await connection.fetchval(COUNT_NEEDING_ATTENTION, groups),
    )


async def mark_acknowledged(connection: Connection, uid: UUID, *, by: str, now: datetime) -> bool:
    """Record who acknowledged a chain; return False if there was nothing to acknowledge."""
    return await connection.fetchval(_ACKNOWLEDGE, uid, by, now) is not None


async def find_acknowledgement(
    connection: Connection, uid: UUID
) -> tuple[ChainState, Acknowledgement | None] | None:
    """Return the chain's state and its acknowledgement; None if there is no such chain."""
    row = await connection.fetchrow(_SELECT_ACKNOWLEDGEMENT, uid)
    if row is None:
        return None
    by, at = row["acknowledged_by"], row["acknowledged_at"]
    return ChainState(row["state"]), None if at is None else Acknowledgement(by=by, at=at)
