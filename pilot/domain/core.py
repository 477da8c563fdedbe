"""The pilot's core: requests for jobs, job placement, stops, and reports to the WMS."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import assert_never
from uuid import UUID

from pilot.domain.allocation import count_startable, resource_request_of, with_full_gpu
from pilot.domain.assigned_jobs import AssignedJob, token_of
from pilot.domain.heartbeats import heartbeat_of, renewed
from pilot.domain.known_tasks import KnownTasks
from pilot.domain.loaded_tools import best_slot, loaded_of, place
from pilot.domain.model import (
    AttemptEnded,
    CurrentTime,
    DescribeTask,
    DrainRequested,
    EndSlot,
    Event,
    ForgetTask,
    HeartbeatAnswered,
    Instruction,
    LeaseGranted,
    PilotStarted,
    Progress,
    ReleaseSlot,
    Renew,
    ReportDeadSlot,
    RunJob,
    SendReport,
    ShutdownRequested,
    SlotLeft,
    SlotLost,
    SlotReady,
    StartSlot,
    StopJob,
    StopReason,
    TimePassed,
    Token,
    ToolUnloaded,
    UnloadWarmWorker,
)
from pilot.domain.prefetch import MeanDuration, PrefetchPolicy
from pilot.domain.reports import canceled_unstarted, given_back, lost_with_slot, without_task
from pilot.domain.slots import Slot, Slots
from pilot.domain.supply import Supply
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.pilots import Command, Heartbeat, JobToken, Room
from sluice.scheduling.fit import BOUNDLESS, Allocation, NodeCapacity


class PilotCore:
    """State and rules of one pilot.

    ``handle`` takes an event and returns instructions in order. Invariant 6: an attempt is always
    told to stop before its lease ends. Running jobs never need more than ``node`` has.

    ``slots`` is the maximum number of slots. ``few`` slots run from the start.
    """

    def __init__(
        self,
        slots: int,
        policy: PrefetchPolicy | None = None,
        node: NodeCapacity = BOUNDLESS,
        *,
        few: int = 1,
    ) -> None:
        self.policy = policy or PrefetchPolicy()
        self.node = node
        self.pace = MeanDuration()
        self.draining = False
        self.slots = Slots(slots, few)
        self._jobs: dict[Token, AssignedJob] = {}
        self._waiting: deque[AssignedJob] = deque()
        self._tasks = KnownTasks()
        self._confirmed: list[Token] = []
        self._returned: list[Token] = []

    @property
    def idle(self) -> bool:
        """Return whether the pilot has no jobs."""
        return not self._jobs

    @property
    def supplied(self) -> bool:
        """Return whether every busy slot has a next job waiting."""
        return bool(self._waiting) and len(self._waiting) >= len(self.slots.busy)

    @property
    def known_tasks(self) -> list[UUID]:
        """Return the uids of the tasks that the pilot has descriptions of."""
        return self._tasks.uids

    @property
    def returned(self) -> list[JobToken]:
        """Return the unfinished jobs that are given back at sign-off."""
        return [JobToken(id=token[0], attempt=token[1]) for token in self._returned]

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens of all jobs that the pilot has."""
        return list(self._jobs)

    @property
    def free(self) -> Allocation:
        """Return the capacity of the node that no running job uses."""
        return self._supply.free

    def jobs_wanted(self, now: CurrentTime) -> int:
        """Return how many jobs to request now."""
        return 0 if self.draining else self._supply.jobs_wanted(now)

    def room(self, now: CurrentTime, wanted: int) -> Room | None:
        """Return the capacity for the ``wanted`` jobs, or None if the node was not measured."""
        return None if self.node is BOUNDLESS else self._supply.room(now, wanted)

    @property
    def loaded(self) -> list[WarmWorkerState]:
        """Return the warm workers, including those that are being loaded."""
        return list(loaded_of(self.slots, self._tasks.steps))

    def heartbeat(self, progress: Mapping[Token, Progress] = MappingProxyType({})) -> Heartbeat:
        """Return the heartbeat to send now. ``progress`` need not name every job."""
        return heartbeat_of(
            self._jobs.values(), self.slots, confirmed=self._confirmed, progress=progress
        ).model_copy(update={"loaded": self.loaded})

    def next_check(self) -> float | None:
        """Return the boot time of the next ``TimePassed``, or None if there is nothing to watch."""
        ticks = [
            held.deadline for held in self._jobs.values() if held.stopping is not StopReason.LEASE
        ]
        obeyed = (slot.obeys_by(self.policy.stop_limit) for slot in self.slots)
        ticks += [boot_time for boot_time in obeyed if boot_time is not None]
        if self._waiting:
            ticks.append(self._waiting[0].leased + self.policy.return_after)
        ticks += [slot.since + self.policy.keep_idle for slot in self.slots.unused()]
        return min(ticks, default=None)

    def handle(self, event: Event, now: CurrentTime) -> list[Instruction]:
        """Process an event and return the instructions that follow from it."""
        moves: Iterable[Instruction] = ()
        match event:
            case LeaseGranted():
                moves = self._on_lease(event, now)
            case HeartbeatAnswered():
                moves = self._on_heartbeat(event, now)
            case PilotStarted():
                moves = self._start_slots(self.slots.few)
            case SlotReady(slot=number):
                self.slots.make_ready(number, now.boot_time)
            case SlotLeft(slot=number):
                self.slots.remove(number)
            case SlotLost():
                moves = self._on_slot_lost(event, now)
            case AttemptEnded():
                moves = self._on_ended(event, now)
            case ToolUnloaded(slot=number):
                self.slots[number].load(None, Allocation())
            case TimePassed():
                moves = self._on_time(now)
            case DrainRequested():
                moves = self._on_drain(now)
            case ShutdownRequested():
                moves = self._on_shutdown(now)
            case _:
                assert_never(event)
        return [*moves, *self._fill_slots(now)]

    def _start_slots(self, number: int) -> Iterator[Instruction]:
        """Start up to ``number`` more slots, as far as the maximum allows."""
        for slot in self.slots.start(number):
            yield StartSlot(slot.number)

    def _on_lease(self, event: LeaseGranted, now: CurrentTime) -> Iterator[Instruction]:
        self._tasks.learn(event.lease.tasks)
        deadline = event.sent + event.lease.seconds - self.policy.margin(event.lease.seconds)
        for job in event.lease.jobs:
            if (job.id, job.attempt) in self._jobs or deadline <= now.boot_time:
                continue
            if job.task_uid not in self._tasks:
                yield SendReport(without_task(job, now.wall))
                continue
            wanted = resource_request_of(self._tasks[job.task_uid], job, self.node)
            kind = self._tasks.kind(job.task_uid)
            held = AssignedJob(job, deadline, leased=now.boot_time, wanted=wanted, kind=kind)
            self._tasks.use(job.task_uid)
            self._jobs[held.token] = held
            self._waiting.insert(self._tasks.place_of(held, self._waiting), held)
        yield from self._forget_tasks()
        if event.lease.drain or self.draining:
            yield from self._on_drain(now)

    def _on_heartbeat(self, event: HeartbeatAnswered, now: CurrentTime) -> Iterator[Instruction]:
        deadline = event.sent + event.answer.lease - self.policy.margin(event.answer.lease)
        for held in renewed(event, self._jobs):
            held.deadline = max(held.deadline, deadline)
            if held.slot is not None:
                yield Renew(held.slot, held.token, held.deadline)
        sent = {token_of(job) for job in event.heartbeat.confirmed}
        self._confirmed = [token for token in self._confirmed if token not in sent]
        for command in event.answer.commands:
            yield from self._obey(command, now)
        if event.answer.drain:
            yield from self._on_drain(now)

    def _obey(self, command: Command, now: CurrentTime) -> Iterator[Instruction]:
        token = token_of(command.job)
        reason = StopReason.CANCEL if command.kind == "cancel" else StopReason.ABANDON
        held = self._jobs.get(token)
        if held is None:
            if token not in self._confirmed:
                self._confirmed.append(token)
        elif held.slot is None:
            self._drop(held)
            self._confirmed.append(token)
            if reason is StopReason.CANCEL:
                yield SendReport(canceled_unstarted(held.job, now.wall))
        elif held.stopping is None or (
            held.stopping is StopReason.CANCEL and reason is StopReason.ABANDON
        ):
            yield self._stop(held, reason, now)

    def _on_ended(self, event: AttemptEnded, now: CurrentTime) -> Iterator[Instruction]:
        slot = self.slots[event.slot]
        self.pace.add(event.seconds)
        token = (event.report.id, event.report.attempt)
        held = self._jobs.get(token)
        slot.load(event.loaded, slot.booked)
        if held is not None:
            self._forget_job(slot, held, now)
        if event.report.outcome is not AttemptOutcome.RETURNED:
            yield SendReport(with_full_gpu(event.report, held.booked if held else None))
        elif held is not None and held.stopping is StopReason.SHUTDOWN:
            self._returned.append(token)
        if held is not None and event.report.no_room is not None:
            # The task waits for room on that storage: its other jobs would fail too.
            same_task = [job for job in self._waiting if job.job.task_uid == held.job.task_uid]
            yield from self._give_back(same_task, now)

    def _on_slot_lost(self, event: SlotLost, now: CurrentTime) -> Iterator[Instruction]:
        slot = self.slots[event.slot]
        jobs = slot.lose()
        lost, others = jobs[:1], jobs[1:]
        for held in reversed(others):
            held.slot = None
            if held.stopping is None:
                self._waiting.appendleft(held)
            else:
                yield from self._stopped_unstarted(held, now)
        for first in lost:
            del self._jobs[first.token]
            self._confirm_stopped(first)
            yield ReportDeadSlot(lost_with_slot(first.job, event.reason, now.wall))
        yield StartSlot(event.slot)

    def _on_time(self, now: CurrentTime) -> Iterator[Instruction]:
        yield from self._stop_overdue(now)
        yield from self._end_stuck(now)
        yield from self._give_back_stuck(now)
        yield from self._let_go(now)

    def _stop_overdue(self, now: CurrentTime) -> Iterator[Instruction]:
        for held in [held for held in self._jobs.values() if held.deadline <= now.boot_time]:
            if held.slot is None:
                self._drop(held)
            elif held.stopping is not StopReason.LEASE:
                yield self._stop(held, StopReason.LEASE, now)

    def _end_stuck(self, now: CurrentTime) -> Iterator[Instruction]:
        """End slots whose job or warm worker has ignored a stop for too long."""
        for slot in self.slots:
            boot_time = slot.obeys_by(self.policy.stop_limit)
            if boot_time is not None and boot_time <= now.boot_time:
                slot.ready = False
                yield EndSlot(slot.number)

    def _give_back_stuck(self, now: CurrentTime) -> Iterator[Instruction]:
        """Give back jobs that wait too long, one at a time, as the job behind may find room."""
        yield from self._fill_slots(now)
        while self._waiting and self._waiting[0].leased + self.policy.return_after <= now.boot_time:
            yield from self._give_back([self._waiting[0]], now)
            yield from self._fill_slots(now)

    def _let_go(self, now: CurrentTime) -> Iterator[Instruction]:
        for slot in self.slots.unused():
            if slot.since + self.policy.keep_idle <= now.boot_time:
                slot.ready, slot.leaving = False, True
                yield ReleaseSlot(slot.number)

    def _on_drain(self, now: CurrentTime) -> Iterator[Instruction]:
        self.draining = True
        yield from self._give_back(list(self._waiting), now)

    def _on_shutdown(self, now: CurrentTime) -> Iterator[Instruction]:
        self._returned += [self._drop(job).token for job in list(self._waiting)]
        for held in list(self._jobs.values()):
            if held.stopping is None:
                yield self._stop(held, StopReason.SHUTDOWN, now)

    def _fill_slots(self, now: CurrentTime) -> Iterator[Instruction]:
        """Hand waiting jobs to idle slots, in order, and start slots where there is room.

        A job that does not fit blocks all jobs behind it, so that small jobs do not starve a large
        job. A slot gets a second job only if jobs are short.
        """
        free, idle = self.free, self.slots.idle
        while self._waiting and (slot := best_slot(idle, self._waiting[0], self.slots)):
            booked, going = place(
                self._waiting[0], slot, self.slots, free=free, devices=self.node.devices
            )
            for other in going:
                other.unloading = now.boot_time
                yield UnloadWarmWorker(other.number)
            if booked is None:
                break
            idle.remove(slot)
            yield from self._hand(self._waiting.popleft(), slot, booked, now)
            free = free.minus(booked)
        else:
            could = count_startable(
                free, (held.wanted for held in self._waiting), self.node.devices
            )
            yield from self._start_slots(could - self.slots.coming)
        if self.pace.mean is not None and self.pace.mean < self.policy.short:
            yield from self._hand_second(free.minus(self.slots.kept), now)

    def _hand_second(self, free: Allocation, now: CurrentTime) -> Iterator[Instruction]:
        """Hand second jobs to busy slots. ``free`` is the free capacity of the node."""
        for slot in self.slots.busy:
            if not self._waiting:
                return
            if not slot.ready or len(slot.queue) > 1 or slot.queue[0].kind != self._waiting[0].kind:
                continue
            before = slot.booked
            booked = slot.place_for(self._waiting[0], free, self.node.devices)
            if booked is not None:
                yield from self._hand(self._waiting.popleft(), slot, booked, now)
                free = free.plus(before).minus(slot.booked)

    def _hand(
        self, held: AssignedJob, slot: Slot, booked: Allocation, now: CurrentTime
    ) -> Iterator[Instruction]:
        if held.job.task_uid not in slot.tasks:
            slot.tasks.add(held.job.task_uid)
            yield DescribeTask(slot.number, self._tasks[held.job.task_uid])
        held.slot, held.booked = slot.number, booked
        slot.queue.append(held)
        if slot.queue[0] is held:
            slot.since, slot.started = now.boot_time, now.wall
        secrets, gpus = self._tasks[held.job.task_uid].needs.secrets, tuple(booked.gpus)
        yield RunJob(slot.number, held.job, held.deadline, secrets=bool(secrets), gpus=gpus)

    def _stop(self, held: AssignedJob, reason: StopReason, now: CurrentTime) -> Instruction:
        held.stopping = reason
        held.stopped = now.boot_time if held.stopped is None else held.stopped
        assert held.slot is not None  # noqa: S101 - callers drop jobs that wait
        return StopJob(held.slot, held.token, reason)

    def _give_back(self, jobs: Iterable[AssignedJob], now: CurrentTime) -> Iterator[Instruction]:
        yield from (SendReport(given_back(self._drop(job).job, now.wall)) for job in jobs)

    def _drop(self, held: AssignedJob) -> AssignedJob:
        self._waiting.remove(held)
        return self._jobs.pop(held.token)

    def _forget_job(self, slot: Slot, held: AssignedJob, now: CurrentTime) -> None:
        del self._jobs[held.token]
        self._confirm_stopped(held)
        if held in slot.queue:
            slot.queue.remove(held)
        slot.since, slot.started = now.boot_time, now.wall if slot.queue else None

    def _confirm_stopped(self, held: AssignedJob) -> None:
        if held.stopping in {StopReason.CANCEL, StopReason.ABANDON}:
            self._confirmed.append(held.token)

    def _stopped_unstarted(self, held: AssignedJob, now: CurrentTime) -> Iterator[Instruction]:
        del self._jobs[held.token]
        self._confirm_stopped(held)
        if held.stopping is StopReason.CANCEL:
            yield SendReport(canceled_unstarted(held.job, now.wall))
        elif held.stopping is StopReason.SHUTDOWN:
            self._returned.append(held.token)

    def _forget_tasks(self) -> Iterator[Instruction]:
        used = {held.job.task_uid for held in self._jobs.values()}
        for uid in self._tasks.forget(used, most=self.policy.most_tasks):
            for slot in self.slots:
                if uid in slot.tasks:
                    slot.tasks.discard(uid)
                    yield ForgetTask(slot.number, uid)

    @property
    def _supply(self) -> Supply:
        waiting, held = len(self._waiting), len(self._jobs)
        return Supply(self.node, self.slots, self.policy, self.pace, waiting, held)
