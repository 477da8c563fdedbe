"""Statements on pilots. Their rows are changed last in a transaction: see the lock rule in
``wms/db/tasks.py``."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice.contracts.pilots import NodeResources
from sluice.contracts.problems import NotFound
from sluice.contracts.states import ContainerEngine, PilotState
from sluice.servicekit.database import Connection
from wms.db.statement import statement
from wms.db.tasks import demand_of
from wms.domain.matching import Demand, Node

UPSERT_PILOT = statement("""
-- A repeated registration is the same pilot, started again: active, and with its present resources.
INSERT INTO pilots (uid, name, host, slots, resources, version, engines) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (uid) DO UPDATE SET
    name = excluded.name, host = excluded.host, slots = excluded.slots, resources = excluded.resources,
    engines = excluded.engines, version = excluded.version, state = '{pilot.ACTIVE}', drain = false, seen_at = now()
""")

TOUCH_PILOT = statement("""
-- Seen; one that was taken for lost is back. One that has signed off stays away until it registers again.
UPDATE pilots SET
    seen_at = now(),
    state = CASE WHEN state = '{pilot.LOST}' THEN CASE WHEN drain THEN '{pilot.DRAINING}' ELSE '{pilot.ACTIVE}' END ELSE state END
WHERE uid = $1 RETURNING state, resources, engines
""")

TOUCH_AND_LOOK = statement("""
-- The same, and the tasks that have ready jobs: one row each, or one without a task; the node is told in the first.
WITH seen AS (
    UPDATE pilots SET
        seen_at = now(),
        state = CASE WHEN state = '{pilot.LOST}' THEN CASE WHEN drain THEN '{pilot.DRAINING}' ELSE '{pilot.ACTIVE}' END
            ELSE state END
    WHERE uid = $1 RETURNING state, resources, engines
)
SELECT s.state AS pilot_state, CASE WHEN row_number() OVER () = 1 THEN s.resources END AS resources,
    s.engines, t.uid, t.rank, t.created_at, t.ready, t.cores, t.ram, t.disk, t.device_type, t.needs_container,
    extract(epoch FROM now() - coalesce(t.served_at, t.created_at))::float AS waited,
    CASE WHEN t.kept_until > now() THEN t.kept_by END AS kept_by
FROM seen AS s LEFT JOIN tasks AS t ON t.state IN ('{task.SPLITTING}', '{task.ACTIVE}') AND t.ready > 0
""")

SEE_PILOT = "UPDATE pilots SET seen_at = now() WHERE uid = $1 RETURNING uid"

DRAIN_PILOT = statement("""
UPDATE pilots SET drain = true, state = CASE WHEN state = '{pilot.ACTIVE}' THEN '{pilot.DRAINING}' ELSE state END
WHERE uid = $1 RETURNING state
""")

SIGN_OFF_PILOT = "UPDATE pilots SET state = $2, seen_at = now() WHERE uid = $1 RETURNING uid"

LOSE_PILOTS = statement("""
-- Those not seen for $1; SKIP LOCKED: whoever holds the row is seeing it right now.
UPDATE pilots SET state = '{pilot.LOST}', acknowledged_by = NULL, acknowledged_at = NULL WHERE uid = ANY(ARRAY(
    SELECT uid FROM pilots WHERE state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}') AND seen_at < now() - $1::interval
    FOR NO KEY UPDATE SKIP LOCKED))
RETURNING uid, name, host
""")

_LATER_ONE = (
    "SELECT FROM pilots AS l WHERE l.name = p.name AND l.host = p.host AND l.registered_at >"
    " p.registered_at"
)


def _mark_started_again(which: str) -> str:
    """Lost ones that need nobody, by the index pilots_by_place. SKIP LOCKED: whoever holds the row
    is seeing it right now."""
    return statement(f"""
UPDATE pilots SET started_again = true WHERE uid = ANY(ARRAY(
    SELECT uid FROM pilots AS p
    WHERE state = '{{pilot.LOST}}' AND acknowledged_at IS NULL AND NOT started_again AND EXISTS ({_LATER_ONE}){which}
    FOR NO KEY UPDATE SKIP LOCKED))
""")


#: After pilots were lost: those that had been started again before; also those that a WMS of the
#: release before saw start.
MARK_STARTED_AGAIN = _mark_started_again("")
#: After a pilot of name $1 on host $2 has registered.
MARK_BEFORE_IT = _mark_started_again(" AND name = $1 AND host = $2")

ACKNOWLEDGE_PILOT = statement("""
-- The first who says so is the one who is named.
UPDATE pilots SET acknowledged_by = $2, acknowledged_at = now()
WHERE uid = $1 AND state = '{pilot.LOST}' AND acknowledged_at IS NULL RETURNING uid
""")

SELECT_SEEN = "SELECT state, acknowledged_by, acknowledged_at FROM pilots WHERE uid = $1"

SELECT_MOST_RAM = statement("""
SELECT max((resources->>'ram')::bigint) FROM pilots WHERE state = '{pilot.ACTIVE}'
""")

SELECT_NODES = statement("""
SELECT resources, engines FROM pilots WHERE state = '{pilot.ACTIVE}'
""")


@dataclass(frozen=True, slots=True)
class SeenPilot:
    state: PilotState
    node: Node


def node_of(row: Any) -> Node:
    return Node(
        NodeResources.model_validate(row["resources"]),
        [ContainerEngine(name) for name in row["engines"]],
    )


def require_pilot(uid: UUID, row: Any) -> Any:
    """The row; raises ``NotFound`` when there is none."""
    if row is None:
        raise NotFound(f"no pilot {uid} has registered; register it first", pilot=uid)
    return row


async def touch_pilot(connection: Connection, uid: UUID) -> SeenPilot:
    """Notes that the pilot is there. Raises ``NotFound``."""
    row = require_pilot(uid, await connection.fetchrow(TOUCH_PILOT, uid))
    return SeenPilot(PilotState(row["state"]), node_of(row))


async def touch_and_look(connection: Connection, uid: UUID) -> tuple[SeenPilot, list[Demand]]:
    """Notes that the pilot is there; gives the tasks that have ready jobs. Raises ``NotFound``."""
    rows = await connection.fetch(TOUCH_AND_LOOK, uid)
    first = require_pilot(uid, rows[0] if rows else None)
    seen = SeenPilot(PilotState(first["pilot_state"]), node_of(first))
    return seen, [demand_of(row) for row in rows if row["uid"] is not None]
