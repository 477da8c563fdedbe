"""Nodes and tasks in simulated time.

The pilot's core and functions of the WMS decide; dictionaries replace database and network.
"""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from pilot.domain.core import PilotCore
from pilot.domain.model import (
    AttemptEnded,
    CurrentTime,
    HeartbeatAnswered,
    Instruction,
    LeaseGranted,
    PilotStarted,
    ReleaseSlot,
    RunJob,
    SendReport,
    SlotReady,
    SlotReleased,
    StartSlot,
    TimePassed,
)
from pilot.domain.prefetch import PrefetchPolicy
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, JobState
from sluice.contracts.jobs.limits import LimitPeriod
from sluice.contracts.jobs.needs import Needs
from sluice.contracts.pilots.heartbeats import HeartbeatAnswer
from sluice.contracts.pilots.leases import Lease, LeasedJob, LeaseRequest
from sluice.contracts.pilots.nodes import NodeResources
from sluice.contracts.pilots.reports import AttemptReport
from sluice.scheduling.fit import NodeCapacity
from tests.unit.pilot.domain.cores import make_task as make_pilot_task
from tests.unit.resources.simulated_objects import EPOCH, Node, SimulatedTask, StartedJob
from wms.domain.retry_rules import History, RetryLimits, decide_after_error
from wms.domain.scheduling.capacity import (
    RESERVATION_DURATION,
    PilotCapacity,
    find_scarce_resources,
    is_reserved_for,
    list_eligible_demands,
)
from wms.domain.scheduling.limits import Limit
from wms.domain.scheduling.matching import (
    Demand,
    PilotNode,
    filter_runnable,
    find_largest_gpu,
    sort_demands,
)
from wms.domain.scheduling.rank import RankWeights, aging

#: Duration of a lease in seconds.
LEASE_SECONDS = 60.0
#: Seconds between two updates of the ranks.
RANK_INTERVAL = 30.0


class SimulatedSystem:
    """A simulated system that checks at each step that nothing is overbooked."""

    def __init__(self, *, interval: float = 1.0) -> None:
        """Create a system whose idle pilots request jobs every ``interval`` seconds."""
        self.interval = interval
        self.time = 0.0
        self.nodes: list[Node] = []
        self.tasks: list[SimulatedTask] = []
        self.limits: dict[str, tuple[float, LimitPeriod | None]] = {}
        self.spent_quotas: Counter[tuple[str, datetime]] = Counter()
        self.started_jobs: list[StartedJob] = []
        #: Running attempts: (job, attempt) → task, pilot.
        self.leases: dict[tuple[int, int], tuple[SimulatedTask, Node]] = {}
        self.attempt_counts: Counter[int] = Counter()
        self._returned_jobs: dict[UUID, list[int]] = {}
        #: Larger GPU memory that a job requests after it ran out of GPU memory.
        self._gpu_memory: dict[int, int] = {}
        self._numbers = count(1)
        self._events: list[tuple[float, int, str, object]] = []

    # --- set-up ---

    def add_node(self, name: str, *, slots: int = 64, **resources: Any) -> Node:
        plain = {"cores": 8, "ram": 16_000, "disk": 100_000}
        node_resources = NodeResources.model_validate(plain | resources)
        offer = NodeCapacity.of(
            node_resources.cores,
            node_resources.ram,
            node_resources.devices,
            disk=node_resources.disk,
            named=node_resources.named,
        )
        policy = PrefetchPolicy(return_after=5.0)
        uid = UUID(int=1000 + next(self._numbers))
        node = Node(name, uid, node_resources, PilotCore(slots, policy, offer, min_slots=2), offer)
        self.nodes.append(node)
        self._follow(node, node.core.handle(PilotStarted(), self.now))
        return node

    def add_task(
        self,
        name: str,
        jobs: int,
        *,
        seconds: float = 10.0,
        rank: float = 1.0,
        uses_gpu: int = 0,
        **needs: Any,
    ) -> SimulatedTask:
        uid = UUID(int=next(self._numbers))
        parsed_needs = Needs.model_validate(needs)
        task = SimulatedTask(
            name, parsed_needs, seconds, rank, self.time, jobs, uid, uses_gpu=uses_gpu
        )
        self._returned_jobs[uid] = []
        self.tasks.append(task)
        return task

    def add_limit(self, name: str, amount: float, period: LimitPeriod | None = None) -> None:
        self.limits[name] = (amount, period)

    def kill_node(self, node: Node) -> None:
        """Silence a node; its jobs are lost when its leases end."""
        node.is_alive = False
        node.queues.clear()
        self._schedule_event(LEASE_SECONDS, "expire", node)

    # --- time ---

    @property
    def now(self) -> CurrentTime:
        return CurrentTime(self.time, EPOCH + timedelta(seconds=self.time))

    def run_for(self, seconds: float) -> None:
        """Advance the time by so many seconds."""
        until = self.time + seconds
        while self.time < until:
            if self.time and self.time % RANK_INTERVAL == 0:
                self._update_ranks()
            for node in self.nodes:
                if node.is_alive:
                    self._run_pilot_round(node)
            following = min(self.time + self.interval, until)
            while self._events and self._events[0][0] <= following:
                self.time, _, kind, what = heapq.heappop(self._events)
                self._apply_event(kind, what)
            self.time = following

    def run_until_done(self, max_seconds: float) -> None:
        """Run until no job waits or runs, for at most ``max_seconds``."""
        until = self.time + max_seconds
        while any(task.ready for task in self.tasks) or self.leases:
            assert self.time < until, [task for task in self.tasks if task.ready]
            self.run_for(self.interval)

    def _schedule_event(self, seconds: float, kind: str, what: object) -> None:
        heapq.heappush(self._events, (self.time + seconds, next(self._numbers), kind, what))

    def _apply_event(self, kind: str, what: object) -> None:
        match kind, what:
            case "end", (Node() as node, int(slot), LeasedJob() as job) if node.is_alive:
                self._end_job(node, slot, job)
            case "expire", Node() as node:
                for token, (task, holder) in list(self.leases.items()):
                    if holder is node:
                        del self.leases[token]
                        self._return_job(task, token[0])

    # --- the pilot ---

    def _run_pilot_round(self, node: Node) -> None:
        """Run the pilot's heartbeat, clock, and request for jobs."""
        beat = node.core.heartbeat()
        answer = HeartbeatAnswered(self.time, beat, HeartbeatAnswer(lease=LEASE_SECONDS))
        self._follow(node, node.core.handle(answer, self.now))
        self._follow(node, node.core.handle(TimePassed(), self.now))
        requested_jobs = node.core.count_jobs_to_request(self.now)
        if requested_jobs:
            free_capacity = node.core.free_capacity(self.now, requested_jobs)
            leased = self._lease_jobs(
                node, LeaseRequest(jobs=requested_jobs, free_capacity=free_capacity)
            )
            self._follow(node, node.core.handle(LeaseGranted(self.time, leased), self.now))

    def _follow(self, node: Node, instructions: Sequence[Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case StartSlot(slot=slot):
                    node.queues[slot] = []
                    self._follow(node, node.core.handle(SlotReady(slot), self.now))
                case ReleaseSlot(slot=slot):
                    assert not node.queues.pop(slot)
                    self._follow(node, node.core.handle(SlotReleased(slot), self.now))
                case RunJob():
                    self._run_job(node, instruction)
                case SendReport(report=report):
                    self._apply_report(node, report)
        self.check_capacity(node)

    def _run_job(self, node: Node, instruction: RunJob) -> None:
        task, _ = self.leases[(instruction.job.id, instruction.job.attempt)]
        allocation = node.core.slots[instruction.slot].queue[-1].allocation
        assert tuple(allocation.gpus) == instruction.gpus
        node.queues[instruction.slot].append((instruction.job, allocation))
        if len(node.queues[instruction.slot]) == 1:
            self._start_job(node, instruction.slot, task)

    def _start_job(self, node: Node, slot: int, task: SimulatedTask) -> None:
        job, allocation = node.queues[slot][0]
        self.started_jobs.append(
            StartedJob(self.time, task.name, node.name, tuple(sorted(allocation.gpus)))
        )
        self._schedule_event(task.seconds, "end", (node, slot, job))

    def _end_job(self, node: Node, slot: int, job: LeasedJob) -> None:
        _, allocation = node.queues[slot].pop(0)
        if node.queues[slot]:
            following = node.queues[slot][0][0]
            self._start_job(node, slot, self.leases[(following.id, following.attempt)][0])
        task = next(task for task in self.tasks if task.uid == job.task_uid)
        report = AttemptReport(
            id=job.id, attempt=job.attempt, outcome=AttemptOutcome.FINISHED, ended_at=EPOCH
        )
        if any(device.memory < task.uses_gpu for device in allocation.gpus.values()):
            changes = {"outcome": AttemptOutcome.FAILED, "error_class": ErrorClass.OUT_OF_MEMORY}
            report = report.model_copy(update={**changes, "gpu_memory": 0})
        ended = AttemptEnded(slot, report, task.seconds)
        self._follow(node, node.core.handle(ended, self.now))

    # --- the WMS ---

    def _apply_report(self, node: Node, report: AttemptReport) -> None:
        """Apply a report; a late report of a lost attempt changes nothing."""
        leased_work = self.leases.pop((report.id, report.attempt), None)
        if leased_work is None:
            return
        task, holder = leased_work
        assert holder is node
        if report.outcome is AttemptOutcome.FINISHED:
            task.finished_jobs += 1
        elif report.error_class is ErrorClass.OUT_OF_MEMORY:
            self._decide_retry(task, report)
        else:
            self._return_job(task, report.id)

    def _decide_retry(self, task: SimulatedTask, report: AttemptReport) -> None:
        """Decide about a failed attempt like ``wms/usecases/reports/settle_attempts.py``."""
        nodes = [PilotNode(node.resources) for node in self.nodes if node.is_alive]
        gpus = task.needs.gpus
        history = History(gpu=report.gpu_memory, shared=gpus is not None and gpus.share < 1)
        limits = RetryLimits(retry=9, backoff=0.0, largest_gpu=find_largest_gpu(task.needs, nodes))
        verdict = decide_after_error(ErrorClass.OUT_OF_MEMORY, history, limits)
        if verdict.state is JobState.FAILED:
            task.failure_reasons.append(verdict.note)
        else:
            assert verdict.gpu is not None
            self._gpu_memory[report.id] = verdict.gpu
            self._return_job(task, report.id)

    def _return_job(self, task: SimulatedTask, job: int) -> None:
        task.ready += 1
        self._returned_jobs[task.uid].append(job)

    def list_limits(self) -> dict[str, Limit]:
        """Return the current state of the limits."""
        limits = {}
        for name, (amount, period) in self.limits.items():
            allocated = sum(task.needs.named.get(name, 0.0) for task, _ in self.leases.values())
            used = (
                allocated
                if period is None
                else self.spent_quotas[(name, self._find_period_start(period))]
            )
            limits[name] = Limit(name, amount, used, period)
        return limits

    def _find_period_start(self, period: LimitPeriod) -> datetime:
        period_start = self.now.wall.replace(second=0, microsecond=0)
        if period is not LimitPeriod.MINUTE:
            period_start = period_start.replace(minute=0)
        return period_start.replace(hour=0) if period is LimitPeriod.DAY else period_start

    def _lease_jobs(self, node: Node, request: LeaseRequest) -> Lease:
        """Lease jobs like ``wms/usecases/leasing/lease_jobs.py``."""
        free_capacity, scarce = PilotCapacity(request, node.resources), set[str]()
        limits = self.list_limits()
        demands = [task.demand(self.time, limits) for task in self.tasks if task.ready]
        jobs: list[LeasedJob] = []
        chosen = sort_demands(
            filter_runnable(list_eligible_demands(demands), PilotNode(node.resources))
        )
        for selected_demand in free_capacity.select_demands(chosen, node.uid):
            task = next(task for task in self.tasks if task.uid == selected_demand.uid)
            demand = replace(
                selected_demand, limits=task.demand(self.time, self.list_limits()).limits
            )
            if free_capacity.jobs == 0:
                break
            if not scarce.isdisjoint(demand.needs.named):
                continue
            if demand.allowed == 0:
                if find_scarce_resources(demand) and self._reserve_node(task, demand, node):
                    scarce |= find_scarce_resources(demand)
                continue
            offered = free_capacity.count_offered_jobs(demand)
            if not offered and self._reserve_node(task, demand, node):
                break
            claimed = self._claim_jobs(
                task, node, offered, largest_free_gpu=free_capacity.largest_free_gpu(demand)
            )
            for job in claimed:
                free_capacity.take(demand, None, job.gpu_memory)
            jobs += claimed
        tasks = [
            make_pilot_task(task.uid).model_copy(update={"needs": task.needs})
            for task in self.tasks
        ]
        return Lease(seconds=LEASE_SECONDS, jobs=jobs, tasks=tasks)

    def _claim_jobs(
        self, task: SimulatedTask, node: Node, jobs: int, *, largest_free_gpu: int
    ) -> list[LeasedJob]:
        """Claim returned jobs first, and only jobs that fit into the free GPU memory."""
        returned = self._returned_jobs[task.uid]
        due = [
            number for number in returned if self._gpu_memory.get(number, 0) <= largest_free_gpu
        ][:jobs]
        new_count = min(jobs, task.ready - len(returned) + len(due)) - len(due)
        self._returned_jobs[task.uid] = [number for number in returned if number not in due]
        numbers = [*due, *(next(self._numbers) for _ in range(new_count))]
        return [self._claim_job(task, node, number) for number in numbers]

    def _claim_job(self, task: SimulatedTask, node: Node, number: int) -> LeasedJob:
        task.ready -= 1
        task.last_lease = self.time
        self.attempt_counts[number] += 1
        token = (number, self.attempt_counts[number])
        assert token not in self.leases
        self.leases[token] = (task, node)
        for name, amount in task.needs.named.items():
            if (period := self.limits.get(name, (0, None))[1]) is not None:
                self.spent_quotas[(name, self._find_period_start(period))] += amount  # type: ignore[assignment]
        for name, limit in self.list_limits().items():
            if name in task.needs.named:
                assert limit.used <= limit.amount + 1e-6, limit
        return LeasedJob(
            id=number,
            attempt=token[1],
            task_uid=task.uid,
            seq=number,
            inputs=[],
            gpu_memory=self._gpu_memory.get(number),
        )

    def _update_ranks(self) -> None:
        """Update the ranks like ``wms/usecases/tasks/update_ranks.py``."""
        for task in self.tasks:
            waited = task.demand(self.time, {}).waited if task.ready else 0.0
            task.aging_rank = RankWeights().next_rank(
                task.aging_rank, 0.0, aging=aging(waited), retries=0.0
            )

    def _reserve_node(self, task: SimulatedTask, demand: Demand, node: Node) -> bool:
        is_reserved = is_reserved_for(demand, node.uid)
        if is_reserved is None:
            task.reserved_pilot, task.reserved_until = (
                node.uid,
                self.time + RESERVATION_DURATION.total_seconds(),
            )
            return True
        return is_reserved

    # --- invariants ---

    def check_capacity(self, node: Node) -> None:
        assert node.offer.amounts.contains(node.running_allocation()), node.running_allocation()
        assert (node.offer.amounts - node.core.free).contains(node.running_allocation())

    def check_released(self) -> None:
        """Check after the last job that everything is released."""
        for node in self.nodes:
            if node.is_alive:
                assert node.core.idle
                assert node.core.free.amounts() == node.offer.amounts.amounts()
        for limit in self.list_limits().values():
            assert limit.period is not None or limit.used == 0

    def list_start_times(self, name: str) -> list[float]:
        """Return the start times of the jobs of a task."""
        return [start.time for start in self.started_jobs if start.task == name]
