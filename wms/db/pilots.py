"""Statements on pilots. Their rows are changed last in a transaction: see the lock rule in ``wms/db/tasks.py``."""

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

SELECT_PILOTS = statement("""
-- In flight: only jobs that pilots have now are counted, by the index jobs_in_flight. Pilots that ended, and lost ones that
-- somebody has seen or that started again, are shown for a day.
WITH flying AS (
    SELECT pilot, count(*) FILTER (WHERE state = '{job.LEASED}') AS leased,
        count(*) FILTER (WHERE state = '{job.RUNNING}') AS running
    FROM jobs WHERE state IN ('{job.LEASED}', '{job.RUNNING}') GROUP BY pilot
)
SELECT p.uid, name, host, state, slots, resources, engines, registered_at, seen_at, finished, failed,
    coalesce(f.leased, 0) AS leased, coalesce(f.running, 0) AS running, acknowledged_by, acknowledged_at
FROM pilots AS p LEFT JOIN flying AS f ON f.pilot = p.uid
WHERE seen_at > now() - interval '1 day' OR state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}')
    OR state = '{pilot.LOST}' AND acknowledged_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM pilots AS after WHERE after.name = p.name AND after.host = p.host AND after.registered_at > p.registered_at)
ORDER BY registered_at, uid
""")

ACKNOWLEDGE_PILOT = statement("""
-- The first who says so is the one who is named.
UPDATE pilots SET acknowledged_by = $2, acknowledged_at = now()
WHERE uid = $1 AND state = '{pilot.LOST}' AND acknowledged_at IS NULL RETURNING uid
""")

SELECT_PILOT_STATE = "SELECT state FROM pilots WHERE uid = $1"

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
    return Node(NodeResources.model_validate(row["resources"]), [ContainerEngine(name) for name in row["engines"]])


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
