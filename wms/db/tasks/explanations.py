"""Statements for explanations of why a task or a job waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sluice.servicekit.database import Connection
from sluice.servicekit.statement import statement
from wms.db.limits.limits import add_limits, list_largest_users
from wms.db.limits.storage_waits import TaskStorageWait, list_task_storage_waits
from wms.db.pilots.pilots import build_node, list_active_nodes
from wms.db.tasks.steps import find_task_priority
from wms.db.tasks.tasks import list_demands
from wms.db.times.timelines import list_pilot_names
from wms.domain.explanations import MissingSpace, UpstreamProgress, WaitingFacts
from wms.domain.scheduling.capacity import find_scarce_resources
from wms.domain.scheduling.matching import PilotNode

SELECT_PAUSED = statement("""
-- Jobs that wait for their next attempt are at one end of the index jobs_ready.
SELECT count(*) AS paused, extract(epoch FROM min(not_before) - now())::float AS next_in FROM jobs
WHERE task_uid = $1 AND state = '{job.READY}' AND not_before > now()
""")

_SELECT_READY = statement("""
-- The seconds until a ready job may be leased (negative if it may now), and its own memory request
-- if it has one.
SELECT
    extract(epoch FROM greatest(not_before, now() - interval '1 day') - now())::float AS pause, ram,
    gpu_memory
FROM jobs WHERE id = $1 AND state = '{job.READY}'
""")

_SELECT_PRESENT = statement("""
-- Nodes that are present, or that were lost recently and may return, even if they take no jobs now.
SELECT resources, engines, sandbox, extract(epoch FROM now() - registered_at)::float AS age
FROM pilots
WHERE state IN ('{pilot.ACTIVE}', '{pilot.DRAINING}')
    OR (state = '{pilot.LOST}' AND seen_at > now() - interval '1 hour')
""")

_SELECT_UPSTREAM = """
-- The upstream task whose files this task takes one by one.
SELECT w.step, w.finished + w.failed + w.canceled AS ended, w.total,
    coalesce((w.registered->>(f.dataset_uid::text))::bigint, 0) AS files
FROM flows AS f JOIN tasks AS w ON w.uid = f.upstream_uid WHERE f.downstream_uid = $1
"""

#: Most steps that an explanation names for one limited resource.
_MAX_HOLDERS = 3


@dataclass(frozen=True, slots=True)
class ReadyJob:
    """A job that is ready.

    Attributes:
        pause: Seconds until it may be leased; negative if it may be leased now.
        ram: MiB, if it differs from the task's request.
        gpu_memory: MiB, if it differs from the task's request.
    """

    pause: float
    ram: int | None
    gpu_memory: int | None


@dataclass(frozen=True, slots=True)
class PresentNodes:
    """Nodes that are there, or that were lost within the last hour.

    Attributes:
        newest_age: Seconds since the latest registration of a pilot.
    """

    nodes: Sequence[PilotNode]
    newest_age: float


async def list_present_nodes(connection: Connection) -> PresentNodes:
    """Return the nodes of active, draining and recently lost pilots."""
    rows = await connection.fetch(_SELECT_PRESENT)
    newest_age = min((row["age"] for row in rows), default=0.0)
    return PresentNodes([build_node(row) for row in rows], newest_age)


async def find_ready_job(connection: Connection, job: int) -> ReadyJob | None:
    """Return the job, or None if it is not ready."""
    row = await connection.fetchrow(_SELECT_READY, job)
    return None if row is None else ReadyJob(**row)


def _missing_space(waits: Sequence[TaskStorageWait]) -> MissingSpace | None:
    if not waits:
        return None
    (wait,) = waits
    return MissingSpace(wait.name or wait.url, wait.needed, wait.free, wait.open)


async def get_waiting_facts(connection: Connection, task: UUID) -> WaitingFacts:
    """Return the facts that explain why the task waits."""
    upstream = await connection.fetchrow(_SELECT_UPSTREAM, task)
    waiting = await add_limits(connection, await list_demands(connection))
    own = next((demand for demand in waiting if demand.uid == task), None)
    scarce = set[str]() if own is None else find_scarce_resources(own)
    reserved_pilot = None if own is None else own.reserved_pilot
    names = {} if reserved_pilot is None else await list_pilot_names(connection, [reserved_pilot])
    paused = await connection.fetchrow(SELECT_PAUSED, task)
    return WaitingFacts(
        demands=waiting,
        nodes=await list_active_nodes(connection),
        paused=paused["paused"] if paused else 0,
        next_in=paused["next_in"] if paused else None,
        holders={
            name: await list_largest_users(connection, name, limit=_MAX_HOLDERS) for name in scarce
        },
        priority=await find_task_priority(connection, task),
        upstream=None if upstream is None else UpstreamProgress(**upstream),
        reserved_pilot_name=next(iter(names.values()), None),
        missing_space=_missing_space(await list_task_storage_waits(connection, [task])),
    )
