"""Statements on the kinds of warm workers that the placement policy has told pilots to load."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.pilots.pilots import build_node
from wms.domain.scheduling.matching import PilotNode

#: Advisory lock of the instance that decides in this round.
_ROUND_LOCK = 0x534C_504C

_BEGIN_ROUND = f"""
-- One instance at a time, and one move in $1.
SELECT pg_try_advisory_xact_lock({_ROUND_LOCK})
    AND NOT EXISTS (SELECT FROM pilots WHERE placed_at > now() - $1::interval)
"""

_CLEAR = """
-- The pilot has loaded the tool that it was told to load.
UPDATE pilots SET placed_kind = NULL
WHERE placed_kind IS NOT NULL
    AND loaded @> jsonb_build_array(jsonb_build_object('kind', placed_kind))
"""

_SELECT_PILOTS = statement("""
-- Pilots that a policy may move. A person's order takes precedence.
SELECT uid, resources, engines, sandbox, loaded, placed_kind,
    extract(epoch FROM now())::float AS now
FROM pilots
WHERE state = '{pilot.ACTIVE}' AND to_load IS NULL AND (loaded <> '[]' OR placed_kind IS NOT NULL)
ORDER BY uid
""")

_PLACE = statement("""
UPDATE pilots SET placed_kind = $2, placed_at = now() WHERE uid = $1 AND state = '{pilot.ACTIVE}'
""")


@dataclass(frozen=True, slots=True)
class PlacedPilot:
    """A pilot that the placement policy may give a kind of warm worker.

    Attributes:
        placed_kind: The kind that it was told to load and has not loaded yet.
        now: Seconds since 1970 by the database's clock.
    """

    uid: UUID
    node: PilotNode
    loaded: list[WarmWorkerState]
    placed_kind: str | None
    now: float


async def begin_round(connection: Connection, *, period: timedelta) -> bool:
    """Return whether this instance may decide now; no other may until the transaction ends."""
    return bool(await connection.fetchval(_BEGIN_ROUND, period))


async def clear_placements(connection: Connection) -> None:
    """Delete the orders that pilots have carried out."""
    await connection.execute(_CLEAR)


async def list_pilots_to_place(connection: Connection) -> list[PlacedPilot]:
    """Return the active pilots that have warm workers or a placement, and no order of a person."""
    return [_build_placed_pilot(dict(row)) for row in await connection.fetch(_SELECT_PILOTS)]


async def place_pilot(connection: Connection, uid: UUID, kind: str) -> None:
    """Tell a pilot to load a kind when it has finished its current job."""
    await connection.execute(_PLACE, uid, kind)


def _build_placed_pilot(row: Mapping[str, Any]) -> PlacedPilot:
    tools = [WarmWorkerState.model_validate(tool) for tool in row["loaded"]]
    return PlacedPilot(row["uid"], build_node(row), tools, row["placed_kind"], row["now"])
