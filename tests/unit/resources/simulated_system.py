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
from sluice.contracts.pilots.pilots import (
    AttemptReport,
    HeartbeatAnswer,
    Lease,
    LeasedJob,
    LeaseRequest,
    NodeResources,
)
from sluice.scheduling.fit import NodeCapacity
from tests.unit.pilot.domain.cores import task
from tests.unit.resources.simulated_objects import EPOCH, Node, Started, Work
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
LEASE = 60.0
#: Seconds between two updates of the ranks.
RANKS = 30.0


class World:
    """A simulated system that checks at each step that nothing is overbooked."""

    def __init__(self, *, look: float = 1.0) -> None:
        """Create a world; ``look`` is the time between two requests of an idle pilot."""
        self.look = look
        self.tick = 0.0
        self.nodes: list[Node] = []
        self.works: list[Work] = []
        self.limits: dict[str, tuple[float, LimitPeriod | None]] = {}
        self.spent: Counter[tuple[str, datetime]] = Counter()
        self.starts: list[Started] = []
        #: Running attempts: (job, attempt) → task, pilot.
        self.leases: dict[tuple[int, int], tuple[Work, Node]] = {}
        self.attempts: Counter[int] = Counter()
        self._again: dict[UUID, list[int]] = {}
        #: Larger GPU memory that a job requests after it ran out of GPU memory.
        self._larger: dict[int, int] = {}
        self._numbers = count(1)
        self._due: list[tuple[float, int, str, object]] = []

    # --- set-up ---

    def node(self, name: str, *, slots: int = 64, **resources: Any) -> Node:
        plain = {"cores": 8, "ram": 16_000, "disk": 100_000}
        has = NodeResources.model_validate(plain | resources)
        offer = NodeCapacity.of(has.cores, has.ram, has.devices, disk=has.disk, named=has.named)
        policy = PrefetchPolicy(return_after=5.0)
        uid = UUID(int=1000 + next(self._numbers))
        node = Node(name, uid, has, PilotCore(slots, policy, offer, min_slots=2), offer)
        self.nodes.append(node)
        self._obey(node, node.core.handle(PilotStarted(), self.now))
        return node

    def work(
        self,
        name: str,
        jobs: int,
        *,
        seconds: float = 10.0,
        rank: float = 1.0,
        uses_gpu: int = 0,
        **needs: Any,
    ) -> Work:
        uid = UUID(int=next(self._numbers))
        parsed_needs = Needs.model_validate(needs)
        work = Work(name, parsed_needs, seconds, rank, self.tick, jobs, uid, uses_gpu=uses_gpu)
        self._again[uid] = []
        self.works.append(work)
        return work

    def limit(self, name: str, amount: float, period: LimitPeriod | None = None) -> None:
        self.limits[name] = (amount, period)

    def kill(self, node: Node) -> None:
        """Silence a node; its jobs are lost when its leases end."""
        node.alive = False
        node.queues.clear()
        self._at(LEASE, "expire", node)

    # --- time ---

    @property
    def now(self) -> CurrentTime:
        return CurrentTime(self.tick, EPOCH + timedelta(seconds=self.tick))

    def run(self, seconds: float) -> None:
        """Let this much time pass."""
        until = self.tick + seconds
        while self.tick < until:
            if self.tick and self.tick % RANKS == 0:
                self._update_ranks()
            for node in self.nodes:
                if node.alive:
                    self._look(node)
            following = min(self.tick + self.look, until)
            while self._due and self._due[0][0] <= following:
                self.tick, _, kind, what = heapq.heappop(self._due)
                self._happens(kind, what)
            self.tick = following

    def run_dry(self, most: float) -> None:
        """Run until no job waits or runs, at most this long."""
        until = self.tick + most
        while any(work.ready for work in self.works) or self.leases:
            assert self.tick < until, [work for work in self.works if work.ready]
            self.run(self.look)

    def _at(self, seconds: float, kind: str, what: object) -> None:
        heapq.heappush(self._due, (self.tick + seconds, next(self._numbers), kind, what))

    def _happens(self, kind: str, what: object) -> None:
        match kind, what:
            case "end", (Node() as node, int(slot), LeasedJob() as job) if node.alive:
                self._end(node, slot, job)
            case "expire", Node() as node:
                for token, (work, holder) in list(self.leases.items()):
                    if holder is node:
                        del self.leases[token]
                        self._give_again(work, token[0])

    # --- the pilot ---

    def _look(self, node: Node) -> None:
        """Run the pilot's heartbeat, clock, and request for jobs."""
        beat = node.core.heartbeat()
        answer = HeartbeatAnswered(self.tick, beat, HeartbeatAnswer(lease=LEASE))
        self._obey(node, node.core.handle(answer, self.now))
        self._obey(node, node.core.handle(TimePassed(), self.now))
        requested_jobs = node.core.count_jobs_to_request(self.now)
        if requested_jobs:
            free_capacity = node.core.free_capacity(self.now, requested_jobs)
            leased = self._lease(
                node, LeaseRequest(jobs=requested_jobs, free_capacity=free_capacity)
            )
            self._obey(node, node.core.handle(LeaseGranted(self.tick, leased), self.now))

    def _obey(self, node: Node, moves: Sequence[Instruction]) -> None:
        for move in moves:
            match move:
                case StartSlot(slot=slot):
                    node.queues[slot] = []
                    self._obey(node, node.core.handle(SlotReady(slot), self.now))
                case ReleaseSlot(slot=slot):
                    assert not node.queues.pop(slot)
                    self._obey(node, node.core.handle(SlotReleased(slot), self.now))
                case RunJob():
                    self._run_job(node, move)
                case SendReport(report=report):
                    self._report(node, report)
        self.check(node)

    def _run_job(self, node: Node, move: RunJob) -> None:
        work, _ = self.leases[(move.job.id, move.job.attempt)]
        parts = node.core.slots[move.slot].queue[-1].allocation
        assert tuple(parts.gpus) == move.gpus
        node.queues[move.slot].append((move.job, parts))
        if len(node.queues[move.slot]) == 1:
            self._start(node, move.slot, work)

    def _start(self, node: Node, slot: int, work: Work) -> None:
        job, parts = node.queues[slot][0]
        self.starts.append(Started(self.tick, work.name, node.name, tuple(sorted(parts.gpus))))
        self._at(work.seconds, "end", (node, slot, job))

    def _end(self, node: Node, slot: int, job: LeasedJob) -> None:
        _, parts = node.queues[slot].pop(0)
        if node.queues[slot]:
            following = node.queues[slot][0][0]
            self._start(node, slot, self.leases[(following.id, following.attempt)][0])
        work = next(work for work in self.works if work.uid == job.task_uid)
        report = AttemptReport(
            id=job.id, attempt=job.attempt, outcome=AttemptOutcome.FINISHED, ended_at=EPOCH
        )
        if any(part.memory < work.uses_gpu for part in parts.gpus.values()):
            full = {"outcome": AttemptOutcome.FAILED, "error_class": ErrorClass.OUT_OF_MEMORY}
            report = report.model_copy(update={**full, "gpu_memory": 0})
        ended = AttemptEnded(slot, report, work.seconds)
        self._obey(node, node.core.handle(ended, self.now))

    # --- the WMS ---

    def _report(self, node: Node, report: AttemptReport) -> None:
        """Apply a report; a late report of a lost attempt changes nothing."""
        leased_work = self.leases.pop((report.id, report.attempt), None)
        if leased_work is None:
            return
        work, holder = leased_work
        assert holder is node
        if report.outcome is AttemptOutcome.FINISHED:
            work.done += 1
        elif report.error_class is ErrorClass.OUT_OF_MEMORY:
            self._judge(work, report)
        else:
            self._give_again(work, report.id)

    def _judge(self, work: Work, report: AttemptReport) -> None:
        """Decide about a failed attempt like ``wms/usecases/reports/settle_attempts.py``."""
        nodes = [PilotNode(node.resources) for node in self.nodes if node.alive]
        gpus = work.needs.gpus
        history = History(gpu=report.gpu_memory, shared=gpus is not None and gpus.share < 1)
        limits = RetryLimits(retry=9, backoff=0.0, largest_gpu=find_largest_gpu(work.needs, nodes))
        verdict = decide_after_error(ErrorClass.OUT_OF_MEMORY, history, limits)
        if verdict.state is JobState.FAILED:
            work.failed.append(verdict.note)
        else:
            assert verdict.gpu is not None
            self._larger[report.id] = verdict.gpu
            self._give_again(work, report.id)

    def _give_again(self, work: Work, job: int) -> None:
        work.ready += 1
        self._again[work.uid].append(job)

    def states(self) -> dict[str, Limit]:
        """Return the current state of the limits."""
        limits = {}
        for name, (amount, period) in self.limits.items():
            allocated = sum(work.needs.named.get(name, 0.0) for work, _ in self.leases.values())
            used = allocated if period is None else self.spent[(name, self._period(period))]
            limits[name] = Limit(name, amount, used, period)
        return limits

    def _period(self, period: LimitPeriod) -> datetime:
        period_start = self.now.wall.replace(second=0, microsecond=0)
        if period is not LimitPeriod.MINUTE:
            period_start = period_start.replace(minute=0)
        return period_start.replace(hour=0) if period is LimitPeriod.DAY else period_start

    def _lease(self, node: Node, request: LeaseRequest) -> Lease:
        """Lease jobs like ``wms/usecases/leasing/lease_jobs.py``."""
        free_capacity, scarce = PilotCapacity(request, node.resources), set[str]()
        limits = self.states()
        demands = [work.demand(self.tick, limits) for work in self.works if work.ready]
        jobs: list[LeasedJob] = []
        chosen = sort_demands(
            filter_runnable(list_eligible_demands(demands), PilotNode(node.resources))
        )
        for selected_demand in free_capacity.select_demands(chosen, node.uid):
            work = next(work for work in self.works if work.uid == selected_demand.uid)
            demand = replace(selected_demand, limits=work.demand(self.tick, self.states()).limits)
            if free_capacity.jobs == 0:
                break
            if not scarce.isdisjoint(demand.needs.named):
                continue
            if demand.allowed == 0:
                if find_scarce_resources(demand) and self._keep(work, demand, node):
                    scarce |= find_scarce_resources(demand)
                continue
            offered = free_capacity.count_offered_jobs(demand)
            if not offered and self._keep(work, demand, node):
                break
            claimed = self._claim(
                work, node, offered, largest_free_gpu=free_capacity.largest_free_gpu(demand)
            )
            for job in claimed:
                free_capacity.take(demand, None, job.gpu_memory)
            jobs += claimed
        tasks = [task(work.uid).model_copy(update={"needs": work.needs}) for work in self.works]
        return Lease(seconds=LEASE, jobs=jobs, tasks=tasks)

    def _claim(
        self, work: Work, node: Node, jobs: int, *, largest_free_gpu: int
    ) -> list[LeasedJob]:
        """Claim jobs, first those that run again, as far as the pilot has enough GPU memory."""
        again = self._again[work.uid]
        due = [number for number in again if self._larger.get(number, 0) <= largest_free_gpu][:jobs]
        fresh = min(jobs, work.ready - len(again) + len(due)) - len(due)
        self._again[work.uid] = [number for number in again if number not in due]
        numbers = [*due, *(next(self._numbers) for _ in range(fresh))]
        return [self._claim_one(work, node, number) for number in numbers]

    def _claim_one(self, work: Work, node: Node, number: int) -> LeasedJob:
        work.ready -= 1
        work.served = self.tick
        self.attempts[number] += 1
        token = (number, self.attempts[number])
        assert token not in self.leases
        self.leases[token] = (work, node)
        for name, amount in work.needs.named.items():
            if (period := self.limits.get(name, (0, None))[1]) is not None:
                self.spent[(name, self._period(period))] += amount  # type: ignore[assignment]
        for name, limit in self.states().items():
            if name in work.needs.named:
                assert limit.used <= limit.amount + 1e-6, limit
        return LeasedJob(
            id=number,
            attempt=token[1],
            task_uid=work.uid,
            seq=number,
            inputs=[],
            gpu_memory=self._larger.get(number),
        )

    def _update_ranks(self) -> None:
        """Update the ranks like ``wms/usecases/tasks/update_ranks.py``."""
        for work in self.works:
            waited = work.demand(self.tick, {}).waited if work.ready else 0.0
            work.gained = RankWeights().next_rank(
                work.gained, 0.0, aging=aging(waited), retries=0.0
            )

    def _keep(self, work: Work, demand: Demand, node: Node) -> bool:
        is_reserved = is_reserved_for(demand, node.uid)
        if is_reserved is None:
            work.reserved_pilot, work.reserved_until = (
                node.uid,
                self.tick + RESERVATION_DURATION.total_seconds(),
            )
            return True
        return is_reserved

    # --- invariants ---

    def check(self, node: Node) -> None:
        assert node.offer.amounts.contains(node.running()), node.running()
        assert (node.offer.amounts - node.core.free).contains(node.running())

    def check_released(self) -> None:
        """Check after the last job that everything is released."""
        for node in self.nodes:
            if node.alive:
                assert node.core.idle
                assert node.core.free.amounts() == node.offer.amounts.amounts()
        for limit in self.states().values():
            assert limit.period is not None or limit.used == 0

    def started(self, name: str) -> list[float]:
        """Return the start times of the jobs of a task."""
        return [start.tick for start in self.starts if start.work == name]
