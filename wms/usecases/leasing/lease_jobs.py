"""Lease jobs to a pilot, of several tasks by rank if need be, or wait until some are ready."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog

from sluice.contracts.common.states import PilotState
from sluice.contracts.pilots.leases import LeaseRequest
from sluice.servicekit.database import Connection
from wms.db.jobs.leases import (
    ClaimedJob,
    LargestFreeAmounts,
    claim_jobs,
    find_larger_request,
    reserve_pilot,
)
from wms.db.limits.limits import add_limits, lock_named, spend
from wms.db.limits.storage_waits import take_trial
from wms.db.pilots.pilot_times import PilotIdentity, WorkKind, record_probe
from wms.db.pilots.pilots import PilotRow, touch_and_list_demands
from wms.db.tasks.shares import add_shares
from wms.db.tasks.task_cache import CachedTask
from wms.db.tasks.tasks import list_shared_inputs_json
from wms.domain.placement.loading import subtract_priorities
from wms.domain.scheduling.capacity import (
    RESERVATION_DURATION,
    PilotCapacity,
    find_scarce_resources,
    is_reserved_for,
    list_eligible_demands,
)
from wms.domain.scheduling.matching import Demand, PilotNode, filter_runnable, sort_demands
from wms.domain.scheduling.pilot_times import PilotLimit
from wms.usecases.context import WmsContext
from wms.usecases.leasing.choose_kinds import choose_kinds
from wms.usecases.leasing.limit_jobs_of_pilot import limit_jobs_of_pilot
from wms.usecases.leasing.pilot_limits import PilotLimitsByWork, list_pilot_limits
from wms.usecases.leasing.reservation_check import ReservationCheck
from wms.usecases.leasing.start_duplicate_attempts import start_duplicate_attempts

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
    tasks: list[CachedTask] = field(default_factory=list)
    shared: dict[UUID, str] = field(default_factory=dict)
    drain: bool = False


async def lease_jobs(
    context: WmsContext,
    pilot: UUID,
    request: LeaseRequest,
    *,
    is_connected: Callable[[], Awaitable[bool]] | None = None,
) -> LeaseResult:
    """Lease ready jobs to the pilot, each with a new attempt number.

    If no job is ready, it waits up to ``request.wait`` seconds or until the process stops. Before
    each further look it asks ``is_connected`` whether the pilot still listens. A pilot that drains,
    is lost or has signed off gets only ``drain``.

    The pilot may be reserved for a task whose jobs have waited long for capacity. An idle pilot
    without a reservation may get duplicate attempts (``start_duplicate_attempts``). A pilot that
    fails where others succeed gets fewer jobs (``limit_jobs_of_pilot``). Jobs that busy pilots
    will end earlier are reserved for them (``ReservationCheck``). Limited resources are held, and
    quotas spent, from the commit on.

    Raises:
        NotFound: The pilot has not registered.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    deadline = started + request.wait
    while True:
        version = context.signal.version
        async with context.database.connection() as connection:
            pilot_row, demands = await touch_and_list_demands(connection, pilot)
            if pilot_row.state is not PilotState.ACTIVE:
                return LeaseResult(context.rules.lease, drain=True)
            # The pilot counts the lease from when it sent the request, before ``started``. So the
            # time it has waited is added.
            result = LeaseResult(context.rules.lease + loop.time() - started)
            await _lease_in_order(
                context,
                connection,
                request,
                result,
                pilot=pilot,
                pilot_row=pilot_row,
                demands=demands,
            )
            result.tasks = await _list_unknown_tasks(
                connection, context, result.jobs, request.known_tasks
            )
            result.shared = await list_shared_inputs_json(
                connection,
                [cached_task.task.uid for cached_task in result.tasks if cached_task.task.shares],
            )
        remaining = deadline - loop.time()
        if result.jobs or remaining <= 0 or context.signal.closed:
            context.metrics.leased.inc(len(result.jobs))
            context.metrics.lease_seconds.observe(loop.time() - started)
            return result
        await context.signal.wait(version, seconds=min(remaining, context.rules.poll_period))
        if is_connected is not None and not await is_connected():
            return result


async def _lease_in_order(
    context: WmsContext,
    connection: Connection,
    request: LeaseRequest,
    result: LeaseResult,
    *,
    pilot: UUID,
    pilot_row: PilotRow,
    demands: Sequence[Demand],
) -> None:
    capacity = PilotCapacity(request, pilot_row.node.resources)
    lease_round = _LeaseRound(
        connection,
        context,
        pilot,
        pilot_row.node,
        capacity,
        await _find_pilot_quarantine(connection, context, pilot_row.identity),
        ReservationCheck(context, connection, pilot_row.identity),
    )
    ranked = await add_limits(connection, await add_shares(connection, demands))
    runnable = filter_runnable(list_eligible_demands(ranked), pilot_row.node)
    if context.policy.weighs_priority:
        runnable = subtract_priorities(runnable)
    kinds = await choose_kinds(
        context, connection, runnable, request.loaded, placed_kind=pilot_row.placed_kind
    )
    chosen = sort_demands(runnable, kinds, first=pilot_row.to_load)
    for demand in capacity.select_demands(chosen, pilot):
        if capacity.jobs == 0 or not await lease_round.lease(demand, result):
            return
    # The pilot is not reserved.
    if not result.jobs and request.free_capacity is not None:
        result.jobs += await start_duplicate_attempts(
            context, connection, pilot, pilot_row=pilot_row, capacity=capacity
        )


@dataclass(frozen=True, slots=True)
class _LeaseRound:
    """Leases jobs of one task after the other to one pilot."""

    connection: Connection
    context: WmsContext
    pilot: UUID
    node: PilotNode
    capacity: PilotCapacity
    quarantine: "_PilotQuarantine | None"
    reservation_check: ReservationCheck
    #: Resources counted over all nodes that are reserved for tasks that come first.
    scarce: set[str] = field(default_factory=set)

    async def lease(self, demand: Demand, result: LeaseResult) -> bool:
        """Lease jobs of the task.

        Returns:
            False if the pilot is reserved for this task, so that it gets no jobs of later tasks.
        """
        if not demand.needs.named:
            return await self._lease(demand, result)
        if not self.scarce.isdisjoint(demand.needs.named):
            return True
        async with self.connection.transaction():
            demand = await lock_named(self.connection, demand)
            before = len(result.jobs)
            can_continue = await self._lease(demand, result)
            await spend(self.connection, demand, jobs=len(result.jobs) - before)
        return can_continue

    async def _lease(self, demand: Demand, result: LeaseResult) -> bool:
        if demand.allowed == 0:
            scarce = find_scarce_resources(demand)
            if scarce and await self._reserve_pilot(demand):
                self.scarce.update(scarce)  # reserved for this task from now on, over all nodes
            return True
        offered_jobs = self.capacity.count_offered_jobs(demand)
        if offered_jobs:
            offered_jobs = await self._limit_jobs(demand, offered_jobs)
            if not offered_jobs:
                return True
        waiting_demand = None if offered_jobs else demand
        if offered_jobs and demand.reserved_pilot == self.pilot:
            waiting_demand = await self._find_larger_demand(demand)
        if offered_jobs and waiting_demand is None:
            jobs = await claim_jobs(
                self.connection,
                demand.uid,
                jobs=offered_jobs,
                pilot=self.pilot,
                free=LargestFreeAmounts(self._largest_ram, self.capacity.largest_free_gpu(demand)),
                lease=self.context.rules.lease_duration,
            )
            if jobs and self.quarantine is not None:
                await self.quarantine.record_probe(self.connection, demand)
            for job in jobs:
                self.capacity.take(demand, job.ram, job.gpu_memory)
            result.jobs += jobs
            if len(jobs) < offered_jobs:
                waiting_demand = await self._find_larger_demand(demand)
        return waiting_demand is None or not await self._reserve_pilot(waiting_demand)

    async def _limit_jobs(self, demand: Demand, offered_jobs: int) -> int:
        """Return how many of the jobs that the pilot has space for it may get."""
        if self.quarantine is not None:
            offered_jobs = await self.quarantine.limit_jobs(
                self.connection, demand, requested_jobs=offered_jobs
            )
        if offered_jobs and demand.reserved_pilot != self.pilot:
            offered_jobs = await self.reservation_check.limit_jobs(
                demand, requested_jobs=offered_jobs
            )
        if offered_jobs and demand.is_trial:
            return int(await take_trial(self.connection, demand.uid, self.pilot))
        return offered_jobs

    @property
    def _largest_ram(self) -> int:
        limit = self.capacity.largest_free_ram
        return self.node.resources.ram if limit is None else min(limit, self.node.resources.ram)

    async def _find_larger_demand(self, demand: Demand) -> Demand | None:
        """Return the task's demand for due jobs that need more memory than the pilot has free."""
        if self.capacity.largest_free_ram is None:
            return None
        larger = await find_larger_request(
            self.connection, demand.uid, above=self._largest_ram, limit=self.node.resources.ram
        )
        return None if larger is None else replace(demand, larger=larger.ram, waited=larger.waited)

    async def _reserve_pilot(self, demand: Demand) -> bool:
        is_reserved = is_reserved_for(demand, self.pilot)
        if is_reserved is None:
            is_reserved = await reserve_pilot(
                self.connection, demand.uid, pilot=self.pilot, duration=RESERVATION_DURATION
            )
            log.info(
                "pilot.reserved", pilot=str(self.pilot), task=str(demand.uid), reserved=is_reserved
            )
        return is_reserved


@dataclass(frozen=True, slots=True)
class _PilotQuarantine:
    """The limits of a pilot that fails where others succeed, by kind of work."""

    identity: PilotIdentity
    pilot_limits: PilotLimitsByWork

    async def limit_jobs(
        self, connection: Connection, demand: Demand, *, requested_jobs: int
    ) -> int:
        """Return how many jobs of the task the pilot may get."""
        work, limit = self._find_limit(demand)
        return await limit_jobs_of_pilot(
            connection, limit, work, self.identity, requested_jobs=requested_jobs
        )

    async def record_probe(self, connection: Connection, demand: Demand) -> None:
        """Record that the pilot got a job of the task, if it gets one only occasionally."""
        work, limit = self._find_limit(demand)
        if limit is PilotLimit.NONE:
            await record_probe(connection, work, self.identity)

    def _find_limit(self, demand: Demand) -> tuple[WorkKind, PilotLimit]:
        work = WorkKind(demand.template, demand.step)
        limits = self.pilot_limits.get(work, {})
        return work, limits.get(self.identity, PilotLimit.FULL)


async def _find_pilot_quarantine(
    connection: Connection, context: WmsContext, identity: PilotIdentity
) -> _PilotQuarantine | None:
    """Return the limits of the pilot, or None if no pilot has any."""
    pilot_limits = await context.pilot_limits.get(None, lambda: list_pilot_limits(connection))
    return _PilotQuarantine(identity, pilot_limits) if pilot_limits else None


async def _list_unknown_tasks(
    connection: Connection,
    context: WmsContext,
    jobs: list[ClaimedJob],
    known_tasks: Collection[UUID],
) -> list[CachedTask]:
    uids = {job.task_uid for job in jobs}
    cached_tasks = await context.tasks.get(connection, uids)
    return [cached_tasks[uid] for uid in uids - set(known_tasks)]
