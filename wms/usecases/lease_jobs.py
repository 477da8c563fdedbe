"""Gives a pilot jobs: as many as it asked for, of several tasks by rank if need be; waits for some where there are none."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sluice.contracts.pilots import LeaseRequest, NodeResources
from sluice.contracts.states import PilotState
from sluice.servicekit.database import Transaction
from wms.db.jobs import ClaimedJob, claim_jobs
from wms.db.known_tasks import KnownTask
from wms.db.pilots import touch_pilot
from wms.db.tasks import COUNT_LEASED, demands, lock_tasks
from wms.domain.matching import Demand, choose
from wms.usecases.workload import Workload

#: Tasks whose rows one transaction locks at most.
MAX_TASKS = 16


@dataclass(slots=True)
class Leased:
    """``tasks``: descriptions that the pilot does not have yet."""

    seconds: float
    jobs: list[ClaimedJob] = field(default_factory=list)
    tasks: list[KnownTask] = field(default_factory=list)
    drain: bool = False


async def lease_jobs(
    workload: Workload, pilot: UUID, request: LeaseRequest, *, connected: Callable[[], Awaitable[bool]] | None = None
) -> Leased:
    """Precondition: the pilot has registered. ``connected``: asked before each later look whether the pilot still listens.

    Effect: the jobs are leased to the pilot until now + ``lease`` by the database's clock, each with a new attempt number; with
    none ready, waits up to ``request.wait`` seconds. A pilot that drains or has signed off gets nothing but ``drain``.
    Messages: none. Raises ``NotFound`` for an unknown pilot.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + request.wait
    while True:
        version = workload.signal.version
        async with workload.database.connection() as connection:
            seen = await touch_pilot(connection, pilot)
        if seen.state is not PilotState.ACTIVE:
            return Leased(workload.terms.lease, drain=True)
        leased = await _lease_now(workload, pilot, request, node=seen.resources)
        left = deadline - loop.time()
        if leased.jobs or left <= 0:
            workload.metrics.leased.inc(len(leased.jobs))
            workload.metrics.lease_seconds.observe(loop.time() - started)
            return leased
        await workload.signal.wait(version, seconds=min(left, workload.terms.poll))
        if connected is not None and not await connected():
            return leased


async def _lease_now(workload: Workload, pilot: UUID, request: LeaseRequest, *, node: NodeResources) -> Leased:
    """Rounds, each a transaction of its own over the best tasks not looked at yet, until the request is filled."""
    leased = Leased(workload.terms.lease)
    async with workload.database.connection() as connection:
        left = await demands(connection)
    while left and len(leased.jobs) < request.jobs:
        chosen = choose(left, node, jobs=request.jobs - len(leased.jobs))[:MAX_TASKS]
        if not chosen:
            break
        tried = {demand.uid for demand in chosen}
        left = [demand for demand in left if demand.uid not in tried]
        async with workload.database.transaction() as tx:
            jobs = await _claim(tx, workload, chosen, pilot=pilot, jobs=request.jobs - len(leased.jobs), ram=node.ram)
            leased.jobs += jobs
            leased.tasks += await _unknown(tx, workload, jobs, request.known_tasks)
    return leased


async def _claim(
    tx: Transaction, workload: Workload, chosen: list[Demand], *, pilot: UUID, jobs: int, ram: int
) -> list[ClaimedJob]:
    locked = await lock_tasks(tx.connection, [demand.uid for demand in chosen])
    claimed: list[ClaimedJob] = []
    counts: list[dict[str, Any]] = []
    for demand in chosen:
        task, wanted = locked[demand.uid], jobs - len(claimed)
        if wanted == 0:
            break
        if task.counts.ready == 0:
            continue
        got = await claim_jobs(
            tx.connection, task.uid, jobs=wanted, after_seq=task.claimed_seq, pilot=pilot, ram=ram, lease=workload.terms.lease
        )
        # Fewer than expected (some pause, or were locked by a stranger): the next claim looks from the beginning.
        filled = len(got) == min(wanted, task.counts.ready)
        last = max((job.seq for job in got if job.attempt == 1), default=task.claimed_seq) if filled else -1
        if got or last != task.claimed_seq:
            counts.append({"uid": task.uid, "jobs": len(got), "claimed_seq": last})
        claimed += sorted(got, key=lambda job: job.seq)
    if counts:
        await tx.connection.execute(COUNT_LEASED, counts)
    return claimed


async def _unknown(tx: Transaction, workload: Workload, jobs: list[ClaimedJob], known_tasks: Collection[UUID]) -> list[KnownTask]:
    uids = {job.task_uid for job in jobs}
    known = await workload.tasks.get(tx.connection, uids)
    return [known[uid] for uid in uids - set(known_tasks)]
