"""The pilot's core: requests for jobs, job placement, stops, and reports to the WMS."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import assert_never
from uuid import UUID

from pilot.domain.booking import how_many_start, wanted_by, with_full_gpu
from pilot.domain.heartbeats import heartbeat_of, renewed
from pilot.domain.held_jobs import HeldJob, token_of
from pilot.domain.known_tasks import KnownTasks
from pilot.domain.loaded_tools import best_slot, loaded_of, place
from pilot.domain.model import (
    AttemptEnded,
    DrainAsked,
    EndSlot,
    Event,
    ForgetTask,
    GiveTask,
    HeartbeatAnswered,
    Instruction,
    LeaseGranted,
    LetSlotGo,
    Now,
    PilotStarted,
    Progress,
    Renew,
    RunJob,
    Salvage,
    SendReport,
    ShutdownAsked,
    SlotLeft,
    SlotLost,
    SlotReady,
    StartSlot,
    StopJob,
    StopReason,
    TimePassed,
    Token,
    ToolUnloaded,
    Unload,
)
from pilot.domain.prefetch import Pace, PrefetchPolicy
from pilot.domain.reports import canceled_unstarted, given_back, lost_with_slot, without_task
from pilot.domain.slots import Slot, Slots
from pilot.domain.supply import Supply
from sluice.contracts.loaded import LoadedTool
from sluice.contracts.pilots import Command, Heartbeat, JobToken, Room
from sluice.contracts.states import AttemptOutcome
from sluice.fit import BOUNDLESS, Booked, Offer


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
        node: Offer = BOUNDLESS,
        *,
        few: int = 1,
    ) -> None:
        self.policy = policy or PrefetchPolicy()
        self.node = node
        self.pace = Pace()
        self.draining = False
        self.slots = Slots(slots, few)
        self._jobs: dict[Token, HeldJob] = {}
        self._waiting: deque[HeldJob] = deque()
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

    def held(self, token: Token) -> bool:
        """Return whether the pilot has the job."""
        return token in self._jobs

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens of all jobs that the pilot has."""
        return list(self._jobs)

    @property
    def free(self) -> Booked:
        """Return the capacity of the node that no running job uses."""
        return self._supply.free

    def jobs_wanted(self, now: Now) -> int:
        """Return how many jobs to request now."""
        return 0 if self.draining else self._supply.jobs_wanted(now)

    def room(self, now: Now, wanted: int) -> Room | None:
        """Return the capacity for the ``wanted`` jobs, or None if the node was not measured."""
        return None if self.node is BOUNDLESS else self._supply.room(now, wanted)

    @property
    def loaded(self) -> list[LoadedTool]:
        """Return the warm workers, including those that are being loaded."""
        return list(loaded_of(self.slots, self._tasks.steps))

    def heartbeat(self, progress: Mapping[Token, Progress] = MappingProxyType({})) -> Heartbeat:
        """Return the heartbeat to send now. ``progress`` need not name every job."""
        return heartbeat_of(
            self._jobs.values(), self.slots, confirmed=self._confirmed, progress=progress
        ).model_copy(update={"loaded": self.loaded})

    def next_check(self) -> float | None:
        """Return the tick of the next ``TimePassed``, or None if there is nothing to watch."""
        ticks = [
            held.deadline for held in self._jobs.values() if held.stopping is not StopReason.LEASE
        ]
        obeyed = (slot.obeys_by(self.policy.stop_limit) for slot in self.slots)
        ticks += [tick for tick in obeyed if tick is not None]
        if self._waiting:
            ticks.append(self._waiting[0].leased + self.policy.return_after)
        ticks += [slot.since + self.policy.keep_idle for slot in self.slots.unused()]
        return min(ticks, default=None)

    def handle(self, event: Event, now: Now) -> list[Instruction]:
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
                self.slots.make_ready(number, now.tick)
            case SlotLeft(slot=number):
                self.slots.remove(number)
            case SlotLost():
                moves = self._on_slot_lost(event, now)
            case AttemptEnded():
                moves = self._on_ended(event, now)
            case ToolUnloaded(slot=number):
                self.slots[number].load(None, Booked())
            case TimePassed():
                moves = self._on_time(now)
            case DrainAsked():
                moves = self._on_drain(now)
            case ShutdownAsked():
                moves = self._on_shutdown(now)
            case _:
                assert_never(event)
        return [*moves, *self._fill_slots(now)]

    def _start_slots(self, number: int) -> Iterator[Instruction]:
        """Start up to ``number`` more slots, as far as the maximum allows."""
        for slot in self.slots.start(number):
            yield StartSlot(slot.number)

    def _on_lease(self, event: LeaseGranted, now: Now) -> Iterator[Instruction]:
        self._tasks.learn(event.lease.tasks)
        deadline = event.sent + event.lease.seconds - self.policy.margin(event.lease.seconds)
        for job in event.lease.jobs:
            if (job.id, job.attempt) in self._jobs or deadline <= now.tick:
                continue
            if job.task_uid not in self._tasks:
                yield SendReport(without_task(job, now.wall))
                continue
            wanted = wanted_by(self._tasks[job.task_uid], job, self.node)
            kind = self._tasks.kind(job.task_uid)
            held = HeldJob(job, deadline, leased=now.tick, wanted=wanted, kind=kind)
            self._tasks.use(job.task_uid)
            self._jobs[held.token] = held
            self._waiting.insert(self._tasks.place_of(held, self._waiting), held)
        yield from self._forget_tasks()
        if event.lease.drain or self.draining:
            yield from self._on_drain(now)

    def _on_heartbeat(self, event: HeartbeatAnswered, now: Now) -> Iterator[Instruction]:
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

    def _obey(self, command: Command, now: Now) -> Iterator[Instruction]:
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

    def _on_ended(self, event: AttemptEnded, now: Now) -> Iterator[Instruction]:
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

    def _on_slot_lost(self, event: SlotLost, now: Now) -> Iterator[Instruction]:
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
            yield Salvage(lost_with_slot(first.job, event.reason, now.wall))
        yield StartSlot(event.slot)

    def _on_time(self, now: Now) -> Iterator[Instruction]:
        yield from self._stop_overdue(now)
        yield from self._end_stuck(now)
        yield from self._give_back_stuck(now)
        yield from self._let_go(now)

    def _stop_overdue(self, now: Now) -> Iterator[Instruction]:
        for held in [held for held in self._jobs.values() if held.deadline <= now.tick]:
            if held.slot is None:
                self._drop(held)
            elif held.stopping is not StopReason.LEASE:
                yield self._stop(held, StopReason.LEASE, now)

    def _end_stuck(self, now: Now) -> Iterator[Instruction]:
        """End slots whose job or warm worker has ignored a stop for too long."""
        for slot in self.slots:
            tick = slot.obeys_by(self.policy.stop_limit)
            if tick is not None and tick <= now.tick:
                slot.ready = False
                yield EndSlot(slot.number)

    def _give_back_stuck(self, now: Now) -> Iterator[Instruction]:
        """Give back jobs that wait too long, one at a time, as the job behind may find room."""
        yield from self._fill_slots(now)
        while self._waiting and self._waiting[0].leased + self.policy.return_after <= now.tick:
            yield from self._give_back([self._waiting[0]], now)
            yield from self._fill_slots(now)

    def _let_go(self, now: Now) -> Iterator[Instruction]:
        for slot in self.slots.unused():
            if slot.since + self.policy.keep_idle <= now.tick:
                slot.ready, slot.leaving = False, True
                yield LetSlotGo(slot.number)

    def _on_drain(self, now: Now) -> Iterator[Instruction]:
        self.draining = True
        yield from self._give_back(list(self._waiting), now)

    def _on_shutdown(self, now: Now) -> Iterator[Instruction]:
        self._returned += [self._drop(job).token for job in list(self._waiting)]
        for held in list(self._jobs.values()):
            if held.stopping is None:
                yield self._stop(held, StopReason.SHUTDOWN, now)

    def _fill_slots(self, now: Now) -> Iterator[Instruction]:
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
                other.unloading = now.tick
                yield Unload(other.number)
            if booked is None:
                break
            idle.remove(slot)
            yield from self._hand(self._waiting.popleft(), slot, booked, now)
            free = free.minus(booked)
        else:
            could = how_many_start(free, (held.wanted for held in self._waiting), self.node.devices)
            yield from self._start_slots(could - self.slots.coming)
        if self.pace.mean is not None and self.pace.mean < self.policy.short:
            yield from self._hand_second(free.minus(self.slots.kept), now)

    def _hand_second(self, free: Booked, now: Now) -> Iterator[Instruction]:
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

    def _hand(self, held: HeldJob, slot: Slot, booked: Booked, now: Now) -> Iterator[Instruction]:
        if held.job.task_uid not in slot.tasks:
            slot.tasks.add(held.job.task_uid)
            yield GiveTask(slot.number, self._tasks[held.job.task_uid])
        held.slot, held.booked = slot.number, booked
        slot.queue.append(held)
        if slot.queue[0] is held:
            slot.since, slot.started = now.tick, now.wall
        secrets, gpus = self._tasks[held.job.task_uid].needs.secrets, tuple(booked.gpus)
        yield RunJob(slot.number, held.job, held.deadline, secrets=bool(secrets), gpus=gpus)

    def _stop(self, held: HeldJob, reason: StopReason, now: Now) -> Instruction:
        held.stopping = reason
        held.stopped = now.tick if held.stopped is None else held.stopped
        assert held.slot is not None  # noqa: S101 - callers drop jobs that wait
        return StopJob(held.slot, held.token, reason)

    def _give_back(self, jobs: Iterable[HeldJob], now: Now) -> Iterator[Instruction]:
        yield from (SendReport(given_back(self._drop(job).job, now.wall)) for job in jobs)

    def _drop(self, held: HeldJob) -> HeldJob:
        self._waiting.remove(held)
        return self._jobs.pop(held.token)

    def _forget_job(self, slot: Slot, held: HeldJob, now: Now) -> None:
        del self._jobs[held.token]
        self._confirm_stopped(held)
        if held in slot.queue:
            slot.queue.remove(held)
        slot.since, slot.started = now.tick, now.wall if slot.queue else None

    def _confirm_stopped(self, held: HeldJob) -> None:
        if held.stopping in {StopReason.CANCEL, StopReason.ABANDON}:
            self._confirmed.append(held.token)

    def _stopped_unstarted(self, held: HeldJob, now: Now) -> Iterator[Instruction]:
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
