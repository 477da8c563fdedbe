"""Lease jobs to a pilot, of several tasks by rank if need be, or wait until some are ready."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog

from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.pilots import LeaseRequest
from sluice.servicekit.database import Connection
from wms.db.jobs.leases import ClaimedJob, LargestFreeAmounts, claim_jobs, keep_free, larger_need
from wms.db.limits.limits import lock_named, spend, with_limits
from wms.db.limits.room_waits import take_trial
from wms.db.pilots.pilots import PilotRow, touch_and_look
from wms.db.pilots.worker_times import Worker, WorkKind
from wms.db.tasks.shares import with_shares
from wms.db.tasks.task_cache import KnownTask
from wms.db.tasks.tasks import shared_inputs_json
from wms.domain.placement.loading import without_priorities
from wms.domain.scheduling.capacity import KEPT, PilotCapacity, blocked, in_turn, is_kept_free
from wms.domain.scheduling.matching import Demand, PilotNode, fitting, order
from wms.domain.scheduling.worker_times import WorkerLimit
from wms.usecases.context import WmsContext
from wms.usecases.leasing.choose_kinds import choose_kinds
from wms.usecases.leasing.reserve_jobs import Choice
from wms.usecases.leasing.start_duplicate_attempts import start_duplicate_attempts
from wms.usecases.leasing.trust_workers import WorkerTrouble, look_for_failing, most_jobs

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class LeaseResult:
    """The answer to a pilot's request for jobs.

    Attributes:
        seconds: Duration of the leases, from when the pilot sent the request.
        tasks: Descriptions that the pilot does not have yet.
        shared: JSON of the shared inputs of these tasks.
    """

    seconds: float
    jobs: list[ClaimedJob] = field(default_factory=list)
    tasks: list[KnownTask] = field(default_factory=list)
    shared: dict[UUID, str] = field(default_factory=dict)
    drain: bool = False


async def lease_jobs(
    context: WmsContext,
    pilot: UUID,
    request: LeaseRequest,
    *,
    connected: Callable[[], Awaitable[bool]] | None = None,
) -> LeaseResult:
    """Lease ready jobs to the pilot, each with a new attempt number.

    If no job is ready, it waits up to ``request.wait`` seconds or until the process stops. Before
    each further look it asks ``connected`` whether the pilot still listens. A pilot that drains, is
    lost or has signed off gets only ``drain``.

    The pilot may be reserved for a task whose jobs have waited long for room. An idle pilot
    without a reservation may get duplicate attempts (``start_duplicate_attempts``). A pilot that
    fails where others succeed gets fewer jobs (``trust_workers``). Jobs that busy pilots will end
    earlier are reserved for them (``reserve_jobs``). Limited resources are held, and quotas spent,
    from the commit on.

    Raises:
        NotFound: The pilot has not registered.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + request.wait
    while True:
        version = context.signal.version
        async with context.database.connection() as connection:
            seen, demands = await touch_and_look(connection, pilot)
            if seen.state is not PilotState.ACTIVE:
                return LeaseResult(context.terms.lease, drain=True)
            # The pilot counts the lease from when it sent the request, before ``started``. So the
            # time it has waited is added.
            leased = LeaseResult(context.terms.lease + loop.time() - started)
            await _give(
                context, connection, request, leased, pilot=pilot, seen=seen, demands=demands
            )
            leased.tasks = await _unknown(connection, context, leased.jobs, request.known_tasks)
            leased.shared = await shared_inputs_json(
                connection, [known.task.uid for known in leased.tasks if known.task.shares]
            )
        left = deadline - loop.time()
        if leased.jobs or left <= 0 or context.signal.closed:
            context.metrics.leased.inc(len(leased.jobs))
            context.metrics.lease_seconds.observe(loop.time() - started)
            return leased
        await context.signal.wait(version, seconds=min(left, context.terms.poll))
        if connected is not None and not await connected():
            return leased


async def _give(
    context: WmsContext,
    connection: Connection,
    request: LeaseRequest,
    leased: LeaseResult,
    *,
    pilot: UUID,
    seen: PilotRow,
    demands: Sequence[Demand],
) -> None:
    room = PilotCapacity(request, seen.node.resources)
    giving = _LeaseRound(
        connection,
        context,
        pilot,
        seen.node,
        room,
        await _worker_quarantine(connection, context, seen.worker),
        Choice(context, connection, seen.worker),
    )
    ranked = await with_limits(connection, await with_shares(connection, demands))
    able = fitting(in_turn(ranked), seen.node)
    if context.policy.weighs_priority:
        able = without_priorities(able)
    kinds = await choose_kinds(context, connection, able, request.loaded, placed=seen.placed_kind)
    chosen = order(able, kinds, first=seen.to_load)
    for demand in room.worth_looking_at(chosen, pilot):
        if room.jobs == 0 or not await giving.give(demand, leased):
            return
    # The pilot is not reserved.
    if not leased.jobs and request.room is not None:
        leased.jobs += await start_duplicate_attempts(
            context, connection, pilot, seen=seen, room=room
        )


@dataclass(frozen=True, slots=True)
class _LeaseRound:
    """Leases jobs of one task after the other to one pilot."""

    connection: Connection
    context: WmsContext
    pilot: UUID
    node: PilotNode
    room: PilotCapacity
    quarantine: "_WorkerQuarantine | None"
    choice: Choice
    #: Resources counted over all nodes that are reserved for tasks that come first.
    scarce: set[str] = field(default_factory=set)

    async def give(self, demand: Demand, leased: LeaseResult) -> bool:
        """Lease jobs of the task.

        Returns:
            False if the pilot is reserved for this task, so that it gets no jobs of later tasks.
        """
        if not demand.needs.named:
            return await self._give(demand, leased)
        if not self.scarce.isdisjoint(demand.needs.named):
            return True
        async with self.connection.transaction():
            demand = await lock_named(self.connection, demand)
            before = len(leased.jobs)
            goes_on = await self._give(demand, leased)
            await spend(self.connection, demand, jobs=len(leased.jobs) - before)
        return goes_on

    async def _give(self, demand: Demand, leased: LeaseResult) -> bool:
        if demand.allowed == 0:
            scarce = blocked(demand)
            if scarce and await self._keep_free(demand):
                self.scarce.update(scarce)  # reserved for this task from now on, over all nodes
            return True
        offered = self.room.offer(demand)
        if offered:
            offered = await self._most(demand, offered)
            if not offered:
                return True
        waits = None if offered else demand
        if offered and demand.kept_by == self.pilot:
            waits = await self._larger(demand)
        if offered and waits is None:
            jobs = await claim_jobs(
                self.connection,
                demand.uid,
                jobs=offered,
                pilot=self.pilot,
                most=LargestFreeAmounts(self._most_ram, self.room.most_gpu(demand)),
                lease=self.context.terms.span,
            )
            for job in jobs:
                self.room.take(demand, job.ram, job.gpu_memory)
            leased.jobs += jobs
            if len(jobs) < offered:
                waits = await self._larger(demand)
        return waits is None or not await self._keep_free(waits)

    async def _most(self, demand: Demand, offered: int) -> int:
        """Return how many of the jobs that the pilot has room for it may get."""
        if self.quarantine is not None:
            offered = await self.quarantine.most(self.connection, demand, wanted=offered)
        if offered and demand.kept_by != self.pilot:
            offered = await self.choice.most(demand, wanted=offered)
        if offered and demand.is_trial:
            return int(await take_trial(self.connection, demand.uid, self.pilot))
        return offered

    @property
    def _most_ram(self) -> int:
        most = self.room.most_ram
        return self.node.resources.ram if most is None else min(most, self.node.resources.ram)

    async def _larger(self, demand: Demand) -> Demand | None:
        """Return the task's demand for due jobs that need more memory than the pilot has free."""
        if self.room.most_ram is None:
            return None
        larger = await larger_need(
            self.connection, demand.uid, above=self._most_ram, most=self.node.resources.ram
        )
        return None if larger is None else replace(demand, larger=larger.ram, waited=larger.waited)

    async def _keep_free(self, demand: Demand) -> bool:
        kept = is_kept_free(demand, self.pilot)
        if kept is None:
            kept = await keep_free(self.connection, demand.uid, pilot=self.pilot, span=KEPT)
            log.info("pilot.kept_free", pilot=str(self.pilot), task=str(demand.uid), kept=kept)
        return kept


@dataclass(frozen=True, slots=True)
class _WorkerQuarantine:
    """The distrust in the worker, by kind of work."""

    worker: Worker
    distrust: WorkerTrouble

    async def most(self, connection: Connection, demand: Demand, *, wanted: int) -> int:
        """Return how many jobs of the task the worker may get."""
        work = WorkKind(demand.template, demand.step)
        how = self.distrust.get(work, {}).get(self.worker, WorkerLimit.FULL)
        return await most_jobs(connection, how, work, self.worker, wanted=wanted)


async def _worker_quarantine(
    connection: Connection, context: WmsContext, worker: Worker
) -> _WorkerQuarantine | None:
    """Return the distrust in the worker, or None if no worker is distrusted."""
    distrust = await context.distrust.get(None, lambda: look_for_failing(connection))
    return _WorkerQuarantine(worker, distrust) if distrust else None


async def _unknown(
    connection: Connection,
    context: WmsContext,
    jobs: list[ClaimedJob],
    known_tasks: Collection[UUID],
) -> list[KnownTask]:
    uids = {job.task_uid for job in jobs}
    known = await context.tasks.get(connection, uids)
    return [known[uid] for uid in uids - set(known_tasks)]
