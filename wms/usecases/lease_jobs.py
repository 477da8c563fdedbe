"""Gives a pilot jobs: as many as it asked for, of several tasks by rank if need be; waits for some where there are none."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID

from sluice.contracts.pilots import LeaseRequest
from sluice.contracts.states import PilotState
from sluice.servicekit.database import Connection
from wms.db.jobs import ClaimedJob, claim_jobs
from wms.db.known_tasks import KnownTask
from wms.db.pilots import touch_and_look
from wms.db.tasks import shared_inputs
from wms.domain.matching import choose
from wms.usecases.workload import Workload


@dataclass(slots=True)
class Leased:
    """``tasks``: descriptions that the pilot does not have yet; ``shared``: JSON of what all jobs of such a task get."""

    seconds: float
    jobs: list[ClaimedJob] = field(default_factory=list)
    tasks: list[KnownTask] = field(default_factory=list)
    shared: dict[UUID, str] = field(default_factory=dict)
    drain: bool = False


async def lease_jobs(
    workload: Workload, pilot: UUID, request: LeaseRequest, *, connected: Callable[[], Awaitable[bool]] | None = None
) -> Leased:
    """Precondition: the pilot has registered. ``connected``: asked before each later look whether the pilot still listens.

    Effect: the jobs are leased to the pilot until now + ``lease`` by the database's clock, each with a new attempt number; with
    none ready, waits up to ``request.wait`` seconds, or until the process is told to stop. A pilot that drains or has signed off
    gets nothing but ``drain``.
    Messages: none. Raises ``NotFound`` for an unknown pilot.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + request.wait
    while True:
        version = workload.signal.version
        async with workload.database.connection() as connection:
            seen, demands = await touch_and_look(connection, pilot)
            if seen.state is not PilotState.ACTIVE:
                return Leased(workload.terms.lease, drain=True)
            # The pilot counts from when it sent the request, which was before ``started``: add what it has waited until now.
            leased = Leased(workload.terms.lease + loop.time() - started)
            for demand in choose(demands, seen.node):
                if (wanted := request.jobs - len(leased.jobs)) == 0:
                    break
                leased.jobs += await claim_jobs(
                    connection, demand.uid, jobs=wanted, pilot=pilot, ram=seen.node.resources.ram, lease=workload.terms.span
                )
            leased.tasks = await _unknown(connection, workload, leased.jobs, request.known_tasks)
            leased.shared = await shared_inputs(connection, [one.task.uid for one in leased.tasks if one.task.shares])
        left = deadline - loop.time()
        if leased.jobs or left <= 0 or workload.signal.closed:
            workload.metrics.leased.inc(len(leased.jobs))
            workload.metrics.lease_seconds.observe(loop.time() - started)
            return leased
        await workload.signal.wait(version, seconds=min(left, workload.terms.poll))
        if connected is not None and not await connected():
            return leased


async def _unknown(
    connection: Connection, workload: Workload, jobs: list[ClaimedJob], known_tasks: Collection[UUID]
) -> list[KnownTask]:
    uids = {job.task_uid for job in jobs}
    known = await workload.tasks.get(connection, uids)
    return [known[uid] for uid in uids - set(known_tasks)]
