"""Statements on pilots.

Their rows are changed last in a transaction: see the lock rule in ``wms/db/tasks/tasks.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sluice.contracts.chains.attention import Acknowledgement
from sluice.contracts.common.life_cycles import states_before
from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import ContainerEngine, PilotState, SandboxKind
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.servicekit.database import Connection
from sluice.servicekit.statement import quote_states, statement
from wms.db.pilots.pilot_times import PilotIdentity, build_identity
from wms.db.tasks.steps import TASKS_WITH_PRIORITY
from wms.db.tasks.tasks import DEMAND, IN_DEMAND, build_demand
from wms.domain.scheduling.matching import Demand, PilotNode
from wms.domain.transitions import PILOT_MOVES

_STORE_PILOT = statement("""
-- A repeated registration restarts the same pilot, active and with its present resources. The
-- caller has checked its key.
INSERT INTO pilots (uid, name, host, slots, resources, version, engines, sandbox, key, site)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (uid) DO UPDATE SET
    key = excluded.key, site = excluded.site,
    name = excluded.name, host = excluded.host, slots = excluded.slots,
    resources = excluded.resources, engines = excluded.engines, sandbox = excluded.sandbox,
    version = excluded.version,
    state = '{pilot.ACTIVE}', drain = false, stopping = false, removed_at = NULL, to_load = NULL,
    placed_kind = NULL,
    seen_at = now()
WHERE pilots.key = excluded.key
    OR pilots.key IS NULL AND pilots.site IS NOT DISTINCT FROM excluded.site
RETURNING uid
""")

_TOUCH = """
-- Record a heartbeat, which brings a lost pilot back. A pilot that has signed off stays away until
-- it registers again. So does a lost pilot of a site, because others may have taken its place.
UPDATE pilots SET
    seen_at = now(),
    state = CASE WHEN state <> '{pilot.LOST}' THEN state
        WHEN drain THEN '{pilot.DRAINING}' ELSE '{pilot.ACTIVE}' END
WHERE uid = $1 AND NOT (state = '{pilot.LOST}' AND site IS NOT NULL)
RETURNING state, resources, engines, sandbox, stopping, name, host, to_load, placed_kind,
    (loaded <> '[]' OR trouble <> '') AS has_reported_state
"""

_TOUCH_PILOT = statement(_TOUCH)

_TOUCH_AND_LIST_DEMANDS = statement(f"""
-- The same, with a row for each task that has ready jobs, or one row without a task. Only the first
-- row describes the node.
WITH seen AS ({_TOUCH})
SELECT s.state AS pilot_state, CASE WHEN row_number() OVER () = 1 THEN s.resources END AS resources,
    s.engines, s.sandbox, s.to_load, s.placed_kind, s.name, s.host, {DEMAND}
FROM seen AS s LEFT JOIN ({TASKS_WITH_PRIORITY}) ON {IN_DEMAND}
""")

_SEE_PILOT = "UPDATE pilots SET seen_at = now() WHERE uid = $1 RETURNING uid"

_SET_DRAINING = statement("""
UPDATE pilots SET
    drain = true,
    state = CASE WHEN state = '{pilot.ACTIVE}' THEN '{pilot.DRAINING}' ELSE state END
WHERE uid = $1 RETURNING uid
""")

_SET_STOPPING = statement("""
-- A pilot that is gone stays as it is.
UPDATE pilots SET
    drain = true, stopping = true,
    state = CASE WHEN state = '{pilot.ACTIVE}' THEN '{pilot.DRAINING}' ELSE state END
WHERE uid = $1 AND state <> '{pilot.GONE}' RETURNING uid
""")

_SET_TO_LOAD = statement("""
-- Pilots that take no jobs get no orders.
UPDATE pilots SET to_load = $2 WHERE uid = $1 AND state = '{pilot.ACTIVE}' RETURNING uid
""")

_SET_REMOVED = statement("""
UPDATE pilots SET removed_at = coalesce(removed_at, now())
WHERE uid = $1 AND state IN ('{pilot.GONE}', '{pilot.LOST}') RETURNING uid
""")

_SET_REPORTED_STATE = """
-- Write only changes: most heartbeats report the same as the previous one.
UPDATE pilots SET loaded = $2, trouble = $3
WHERE uid = $1 AND (loaded, trouble) IS DISTINCT FROM ($2::jsonb, $3::text)
"""

_IS_STOPPING = "SELECT stopping FROM pilots WHERE uid = $1"

_SET_GONE = statement("""
UPDATE pilots SET state = '{pilot.GONE}', seen_at = now() WHERE uid = $1 RETURNING uid
""")

_LOSABLE = quote_states(states_before(PILOT_MOVES, PilotState.LOST))

_SET_LOST = statement(f"""
-- Mark pilots as lost that were not seen for $1. A locked row belongs to a pilot that is being seen
-- now.
UPDATE pilots SET
    state = '{{pilot.LOST}}', acknowledged_by = NULL, acknowledged_at = NULL, removed_at = NULL
WHERE uid = ANY(ARRAY(
    SELECT uid FROM pilots
    WHERE state IN ({_LOSABLE}) AND seen_at < now() - $1::interval
    FOR NO KEY UPDATE SKIP LOCKED))
RETURNING uid, name, host
""")


def _mark_started_again(condition: str) -> str:
    """Return a statement that marks lost pilots whose successor has registered.

    The pilots are found by the index pilots_by_place. Locked rows are skipped: the holder of
    a row's lock is seeing that pilot right now.
    """
    return statement(f"""
UPDATE pilots SET started_again = true WHERE uid = ANY(ARRAY(
    SELECT uid FROM pilots AS p
    WHERE state = '{{pilot.LOST}}' AND acknowledged_at IS NULL AND NOT started_again AND EXISTS (
        SELECT FROM pilots AS later
        WHERE later.name = p.name AND later.host = p.host AND later.registered_at > p.registered_at
    ){condition}
    FOR NO KEY UPDATE SKIP LOCKED))
""")


_MARK_STARTED_AGAIN = _mark_started_again("")
_MARK_BEFORE_IT = _mark_started_again(" AND name = $1 AND host = $2")

_SET_ACKNOWLEDGED = statement("""
-- Keep the name of the first person who acknowledges.
UPDATE pilots SET acknowledged_by = $2, acknowledged_at = now()
WHERE uid = $1 AND state = '{pilot.LOST}' AND acknowledged_at IS NULL RETURNING uid
""")

_SELECT_LOSS = "SELECT state, acknowledged_by, acknowledged_at FROM pilots WHERE uid = $1"

_SELECT_NODE = "SELECT resources, engines, sandbox FROM pilots WHERE uid = $1"

_SELECT_NODES = statement("""
SELECT resources, engines, sandbox FROM pilots WHERE state = '{pilot.ACTIVE}'
""")


@dataclass(frozen=True, slots=True)
class PilotRow:
    """A pilot that was just seen.

    Attributes:
        stopping: It has to return the jobs that it has.
        has_reported_state: Its last report named loaded tools or trouble.
        to_load: The step whose jobs it gets first.
        placed_kind: The kind of warm worker that the placement policy has told it to load.
    """

    state: PilotState
    node: PilotNode
    identity: PilotIdentity
    stopping: bool = False
    has_reported_state: bool = False
    to_load: str | None = None
    placed_kind: str | None = None


@dataclass(frozen=True, slots=True)
class LostPilot:
    """A pilot that has just been marked as lost."""

    uid: UUID
    name: str
    host: str


@dataclass(frozen=True, slots=True)
class PilotLoss:
    """The state of a pilot, and who has acknowledged its loss."""

    state: PilotState
    acknowledged: Acknowledgement | None


def build_node(row: Any) -> PilotNode:
    """Return the pilot's node from a row."""
    return PilotNode(
        NodeResources.model_validate(row["resources"]),
        [ContainerEngine(name) for name in row["engines"]],
        SandboxKind(row["sandbox"]),
    )


def _require_row(uid: UUID, row: Any) -> Any:
    """Return the row.

    Raises:
        NotFound: There is no row.
    """
    if row is None:
        raise NotFound(f"no pilot {uid} has registered; register it first", pilot=uid)
    return row


async def store_pilot(
    connection: Connection,
    pilot: RegisterPilot,
    *,
    key: str | None = None,
    site: UUID | None = None,
) -> bool:
    """Store the pilot as active, with its current resources, whether it was known or not.

    Returns:
        False if the uid belongs to a pilot with another ``key``, or to one without a key at another
            ``site``. Nothing changes then.
    """
    stored = await connection.fetchval(
        _STORE_PILOT,
        pilot.uid,
        pilot.name,
        pilot.host,
        pilot.slots,
        pilot.resources.model_dump(mode="json"),
        pilot.version,
        list(pilot.engines),
        pilot.sandbox,
        key,
        site,
    )
    return stored is not None


async def touch_pilot(connection: Connection, uid: UUID) -> PilotRow:
    """Record that the pilot was seen.

    Raises:
        NotFound: The pilot has not registered.
    """
    row = _require_row(uid, await connection.fetchrow(_TOUCH_PILOT, uid))
    return PilotRow(
        PilotState(row["state"]),
        build_node(row),
        build_identity(row),
        row["stopping"],
        row["has_reported_state"],
    )


async def touch_and_list_demands(
    connection: Connection, uid: UUID
) -> tuple[PilotRow, list[Demand]]:
    """Record that the pilot was seen, and return the tasks that have ready jobs.

    Raises:
        NotFound: The pilot has not registered.
    """
    rows = await connection.fetch(_TOUCH_AND_LIST_DEMANDS, uid)
    first = _require_row(uid, rows[0] if rows else None)
    pilot_row = PilotRow(
        PilotState(first["pilot_state"]),
        build_node(first),
        build_identity(first),
        to_load=first["to_load"],
        placed_kind=first["placed_kind"],
    )
    return pilot_row, [build_demand(row) for row in rows if row["uid"] is not None]


async def set_reported_state(
    connection: Connection, uid: UUID, *, loaded_workers: Sequence[WarmWorkerState], trouble: str
) -> None:
    """Store the tools that a pilot has loaded, and why it takes no jobs."""
    tools = [tool.model_dump(mode="json") for tool in loaded_workers]
    await connection.execute(_SET_REPORTED_STATE, uid, tools, trouble)


async def see_pilot(connection: Connection, uid: UUID) -> None:
    """Record the time at which the pilot was seen, and nothing else.

    Raises:
        NotFound: The pilot has not registered.
    """
    _require_row(uid, await connection.fetchval(_SEE_PILOT, uid))


async def set_draining(connection: Connection, uid: UUID) -> None:
    """Let the pilot take no new jobs.

    Raises:
        NotFound: The pilot has not registered.
    """
    _require_row(uid, await connection.fetchval(_SET_DRAINING, uid))


async def set_stopping(connection: Connection, uid: UUID) -> bool:
    """Tell the pilot to stop; return False if it is unknown or has signed off."""
    return await connection.fetchval(_SET_STOPPING, uid) is not None


async def set_to_load(connection: Connection, uid: UUID, step: str | None) -> bool:
    """Set the step whose jobs the pilot gets first; return False if it takes no jobs."""
    return await connection.fetchval(_SET_TO_LOAD, uid, step) is not None


async def set_removed(connection: Connection, uid: UUID) -> bool:
    """Remove the pilot from the lists; return False if it is unknown or still there."""
    return await connection.fetchval(_SET_REMOVED, uid) is not None


async def is_stopping(connection: Connection, uid: UUID) -> bool:
    """Return whether the pilot was told to stop."""
    return bool(await connection.fetchval(_IS_STOPPING, uid))


async def set_gone(connection: Connection, uid: UUID) -> None:
    """Record that the pilot has signed off.

    Raises:
        NotFound: The pilot has not registered.
    """
    _require_row(uid, await connection.fetchval(_SET_GONE, uid))


async def set_lost(connection: Connection, *, silence: timedelta) -> list[LostPilot]:
    """Mark the pilots that have been silent for ``silence`` as lost, and return them."""
    return [LostPilot(**row) for row in await connection.fetch(_SET_LOST, silence)]


async def mark_started_again(connection: Connection) -> None:
    """Mark all lost pilots that have started again.

    Call it after pilots were lost. It includes pilots that registered with a WMS of the previous
    release.
    """
    await connection.execute(_MARK_STARTED_AGAIN)


async def mark_lost_before(connection: Connection, *, name: str, host: str) -> None:
    """Mark lost pilots of this name and host as started again.

    Call it after a pilot of this name has registered on this host.
    """
    await connection.execute(_MARK_BEFORE_IT, name, host)


async def set_acknowledged(connection: Connection, uid: UUID, *, by: str) -> bool:
    """Acknowledge a loss; return False if the pilot is not lost, or was acknowledged before."""
    return await connection.fetchval(_SET_ACKNOWLEDGED, uid, by) is not None


async def get_pilot_loss(connection: Connection, uid: UUID) -> PilotLoss:
    """Return whether the pilot is lost and who has acknowledged it.

    Raises:
        NotFound: The pilot has not registered.
    """
    row = _require_row(uid, await connection.fetchrow(_SELECT_LOSS, uid))
    by, at = row["acknowledged_by"], row["acknowledged_at"]
    acknowledged = None if at is None else Acknowledgement(by=by, at=at)
    return PilotLoss(PilotState(row["state"]), acknowledged)


async def get_pilot_node(connection: Connection, uid: UUID) -> PilotNode:
    """Return a pilot's node, whatever the pilot's state.

    Raises:
        NotFound: The pilot has not registered.
    """
    return build_node(_require_row(uid, await connection.fetchrow(_SELECT_NODE, uid)))


async def list_active_nodes(connection: Connection) -> list[PilotNode]:
    """Return the nodes of active pilots."""
    return [build_node(row) for row in await connection.fetch(_SELECT_NODES)]
