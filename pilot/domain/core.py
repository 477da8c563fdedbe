"""The pilot's core: requests for jobs, job placement, stops, and reports to the WMS."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import assert_never
from uuid import UUID

from pilot.domain.allocation import add_gpu_memory, compute_resource_request
from pilot.domain.assigned_jobs import AssignedJob, PilotJobs, get_token
from pilot.domain.heartbeats import build_heartbeat, select_renewed_jobs
from pilot.domain.known_tasks import KnownTasks
from pilot.domain.model import (
    AttemptEnded,
    CurrentTime,
    DrainRequested,
    Event,
    ForgetTask,
    HeartbeatAnswered,
    Instruction,
    KillSlot,
    LeaseGranted,
    PilotStarted,
    Progress,
    ReleaseSlot,
    Renew,
    ReportDeadSlot,
    SendReport,
    ShutdownRequested,
    SlotLost,
    SlotReady,
    SlotReleased,
    StartSlot,
    StopJob,
    StopReason,
    TimePassed,
    Token,
    ToolUnloaded,
)
from pilot.domain.prefetch import MeanDuration, PrefetchPolicy
from pilot.domain.reports import (
    build_canceled_report,
    build_lost_slot_report,
    build_unknown_task_report,
)
from pilot.domain.slot_filling import SlotFilling
from pilot.domain.slots import Slot, Slots
from pilot.domain.supply import Supply
from pilot.domain.warm_worker_placement import list_warm_workers
from sluice.contracts.common.states import AttemptOutcome
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.heartbeats import Command, Heartbeat
from sluice.contracts.pilots.leases import FreeCapacity, JobToken
from sluice.scheduling.fit import BOUNDLESS, Allocation, NodeCapacity


class PilotCore:
    """State and rules of one pilot.

    ``handle`` takes an event and returns instructions in order. Invariant 6: an attempt is always
    told to stop before its lease ends. Running jobs never need more than ``node`` has.

    ``slots`` is the maximum number of slots. ``min_slots`` slots run from the start.
    """

    def __init__(
        self,
        slots: int,
        policy: PrefetchPolicy | None = None,
        node: NodeCapacity = BOUNDLESS,
        *,
        min_slots: int = 1,
    ) -> None:
        self.policy = policy or PrefetchPolicy()
        self.node = node
        self.pace = MeanDuration()
        self.draining = False
        self.slots = Slots(slots, min_slots)
        self._jobs = PilotJobs()
        self._tasks = KnownTasks()
        self._filling = SlotFilling(
            self.node, self.slots, self.policy, self.pace, self._jobs, self._tasks
        )

    @property
    def idle(self) -> bool:
        """Return whether the pilot has no jobs."""
        return not self._jobs.by_token

    @property
    def supplied(self) -> bool:
        """Return whether every busy slot has a next job waiting."""
        return bool(self._jobs.waiting) and len(self._jobs.waiting) >= len(self.slots.busy)

    @property
    def known_tasks(self) -> list[UUID]:
        """Return the uids of the tasks that the pilot has descriptions of."""
        return self._tasks.uids

    @property
    def returned_tokens(self) -> list[JobToken]:
        """Return the unfinished jobs that are given back at sign-off."""
        return [JobToken(id=token[0], attempt=token[1]) for token in self._jobs.returned_tokens]

    @property
    def tokens(self) -> list[Token]:
        """Return the tokens of all jobs that the pilot has."""
        return list(self._jobs.by_token)

    @property
    def free(self) -> Allocation:
        """Return the capacity of the node that no running job uses."""
        return self._supply.free

    def count_jobs_to_request(self, now: CurrentTime) -> int:
        """Return how many jobs to request now."""
        return 0 if self.draining else self._supply.count_jobs_to_request(now)

    def free_capacity(self, now: CurrentTime, requested_count: int) -> FreeCapacity | None:
        """Return the capacity for ``requested_count`` jobs; None if the node was not measured."""
        return None if self.node is BOUNDLESS else self._supply.free_capacity(now, requested_count)

    @property
    def warm_workers(self) -> list[WarmWorkerState]:
        """Return the warm workers, including those that are being loaded."""
        return list(list_warm_workers(self.slots, self._tasks.steps))

    def heartbeat(self, progress: Mapping[Token, Progress] = MappingProxyType({})) -> Heartbeat:
        """Return the heartbeat to send now. ``progress`` need not name every job."""
        return build_heartbeat(
            self._jobs.by_token.values(),
            self.slots,
            confirmed_tokens=self._jobs.confirmed_tokens,
            progress=progress,
        ).model_copy(update={"loaded": self.warm_workers})

    def next_check(self) -> float | None:
        """Return the boot time of the next ``TimePassed``, or None if there is nothing to watch."""
        checks = [
            assigned.deadline
            for assigned in self._jobs.by_token.values()
            if assigned.stopping is not StopReason.LEASE
        ]
        stop_deadlines = (slot.stop_deadline(self.policy.stop_limit) for slot in self.slots)
        checks += [boot_time for boot_time in stop_deadlines if boot_time is not None]
        if self._jobs.waiting:
            checks.append(self._jobs.waiting[0].leased_at + self.policy.return_after)
        checks += [slot.since + self.policy.keep_idle for slot in self.slots.unused()]
        return min(checks, default=None)

    def handle(self, event: Event, now: CurrentTime) -> list[Instruction]:
        """Process an event and return the instructions that follow from it."""
        instructions: Iterable[Instruction] = ()
        match event:
            case LeaseGranted():
                instructions = self._on_lease(event, now)
            case HeartbeatAnswered():
                instructions = self._on_heartbeat(event, now)
            case PilotStarted():
                instructions = self._filling.start_slots(self.slots.min_slots)
            case SlotReady(slot=number):
                self.slots.make_ready(number, now.boot_time)
            case SlotReleased(slot=number):
                self.slots.remove(number)
            case SlotLost():
                instructions = self._on_slot_lost(event, now)
            case AttemptEnded():
                instructions = self._on_ended(event, now)
            case ToolUnloaded(slot=number):
                self.slots[number].load(None, Allocation())
            case TimePassed():
                instructions = self._on_time(now)
            case DrainRequested():
                instructions = self._on_drain(now)
            case ShutdownRequested():
                instructions = self._on_shutdown(now)
            case _:
                assert_never(event)
        return [*instructions, *self._filling.fill(self.free, now)]

    def _on_lease(self, event: LeaseGranted, now: CurrentTime) -> Iterator[Instruction]:
        self._tasks.learn(event.lease.tasks)
        deadline = event.sent_at + event.lease.seconds - self.policy.margin(event.lease.seconds)
        for job in event.lease.jobs:
            if (job.id, job.attempt) in self._jobs.by_token or deadline <= now.boot_time:
                continue
            if job.task_uid not in self._tasks:
                yield SendReport(build_unknown_task_report(job, now.wall))
                continue
            request = compute_resource_request(self._tasks[job.task_uid], job, self.node)
            kind = self._tasks.kind(job.task_uid)
            assigned = AssignedJob(
                job, deadline, leased_at=now.boot_time, request=request, kind=kind
            )
            self._tasks.use(job.task_uid)
            self._jobs.by_token[assigned.token] = assigned
            self._jobs.waiting.insert(
                self._tasks.find_position(assigned, self._jobs.waiting), assigned
            )
        yield from self._forget_tasks()
        if event.lease.drain or self.draining:
            yield from self._on_drain(now)

    def _on_heartbeat(self, event: HeartbeatAnswered, now: CurrentTime) -> Iterator[Instruction]:
        deadline = event.sent_at + event.answer.lease - self.policy.margin(event.answer.lease)
        for assigned in select_renewed_jobs(event, self._jobs.by_token):
            assigned.deadline = max(assigned.deadline, deadline)
            if assigned.slot is not None:
                yield Renew(assigned.slot, assigned.token, assigned.deadline)
        confirmed = {get_token(job) for job in event.heartbeat.confirmed}
        self._jobs.confirmed_tokens = [
            token for token in self._jobs.confirmed_tokens if token not in confirmed
        ]
        for command in event.answer.commands:
            yield from self._obey(command, now)
        if event.answer.drain:
            yield from self._on_drain(now)

    def _obey(self, command: Command, now: CurrentTime) -> Iterator[Instruction]:
        token = get_token(command.job)
        reason = StopReason.CANCEL if command.kind == "cancel" else StopReason.ABANDON
        assigned = self._jobs.by_token.get(token)
        if assigned is None:
            if token not in self._jobs.confirmed_tokens:
                self._jobs.confirmed_tokens.append(token)
        elif assigned.slot is None:
            self._jobs.drop(assigned)
            self._jobs.confirmed_tokens.append(token)
            if reason is StopReason.CANCEL:
                yield SendReport(build_canceled_report(assigned.job, now.wall))
        elif assigned.stopping is None or (
            assigned.stopping is StopReason.CANCEL and reason is StopReason.ABANDON
        ):
            yield self._stop(assigned, reason, now)

    def _on_ended(self, event: AttemptEnded, now: CurrentTime) -> Iterator[Instruction]:
        slot = self.slots[event.slot]
        self.pace.add(event.seconds)
        token = (event.report.id, event.report.attempt)
        assigned = self._jobs.by_token.get(token)
        slot.load(event.loaded, slot.allocation)
        if assigned is not None:
            self._forget_job(slot, assigned, now)
        if event.report.outcome is not AttemptOutcome.RETURNED:
            yield SendReport(
                add_gpu_memory(event.report, assigned.allocation if assigned else None)
            )
        elif assigned is not None and assigned.stopping is StopReason.SHUTDOWN:
            self._jobs.returned_tokens.append(token)
        if assigned is not None and event.report.no_space is not None:
            # The task waits for space on that storage: its other jobs would fail too.
            same_task = [
                job for job in self._jobs.waiting if job.job.task_uid == assigned.job.task_uid
            ]
            yield from self._jobs.return_jobs(same_task, now)

    def _on_slot_lost(self, event: SlotLost, now: CurrentTime) -> Iterator[Instruction]:
        slot = self.slots[event.slot]
        jobs = slot.lose()
        lost, others = jobs[:1], jobs[1:]
        for assigned in reversed(others):
            assigned.slot = None
            if assigned.stopping is None:
                self._jobs.waiting.appendleft(assigned)
            else:
                yield from self._jobs.end_unstarted(assigned, now)
        for first in lost:
            del self._jobs.by_token[first.token]
            self._jobs.confirm_stopped(first)
            yield ReportDeadSlot(build_lost_slot_report(first.job, event.reason, now.wall))
        yield StartSlot(event.slot)

    def _on_time(self, now: CurrentTime) -> Iterator[Instruction]:
        yield from self._stop_overdue(now)
        yield from self._end_stuck(now)
        yield from self._return_stuck_jobs(now)
        yield from self._release_unused_slots(now)

    def _stop_overdue(self, now: CurrentTime) -> Iterator[Instruction]:
        for assigned in [
            assigned
            for assigned in self._jobs.by_token.values()
            if assigned.deadline <= now.boot_time
        ]:
            if assigned.slot is None:
                self._jobs.drop(assigned)
            elif assigned.stopping is not StopReason.LEASE:
                yield self._stop(assigned, StopReason.LEASE, now)

    def _end_stuck(self, now: CurrentTime) -> Iterator[Instruction]:
        """End slots whose job or warm worker has ignored a stop for too long."""
        for slot in self.slots:
            boot_time = slot.stop_deadline(self.policy.stop_limit)
            if boot_time is not None and boot_time <= now.boot_time:
                slot.ready = False
                yield KillSlot(slot.number)

    def _return_stuck_jobs(self, now: CurrentTime) -> Iterator[Instruction]:
        """Give back jobs that wait too long, one at a time, as the job behind may fit."""
        yield from self._filling.fill(self.free, now)
        while (
            self._jobs.waiting
            and self._jobs.waiting[0].leased_at + self.policy.return_after <= now.boot_time
        ):
            yield from self._jobs.return_jobs([self._jobs.waiting[0]], now)
            yield from self._filling.fill(self.free, now)

    def _release_unused_slots(self, now: CurrentTime) -> Iterator[Instruction]:
        for slot in self.slots.unused():
            if slot.since + self.policy.keep_idle <= now.boot_time:
                slot.ready, slot.leaving = False, True
                yield ReleaseSlot(slot.number)

    def _on_drain(self, now: CurrentTime) -> Iterator[Instruction]:
        self.draining = True
        yield from self._jobs.return_jobs(list(self._jobs.waiting), now)

    def _on_shutdown(self, now: CurrentTime) -> Iterator[Instruction]:
        self._jobs.returned_tokens += [
            self._jobs.drop(job).token for job in list(self._jobs.waiting)
        ]
        for assigned in list(self._jobs.by_token.values()):
            if assigned.stopping is None:
                yield self._stop(assigned, StopReason.SHUTDOWN, now)

    def _stop(self, assigned_job: AssignedJob, reason: StopReason, now: CurrentTime) -> Instruction:
        assigned_job.stopping = reason
        assigned_job.stopped_at = (
            now.boot_time if assigned_job.stopped_at is None else assigned_job.stopped_at
        )
        assert assigned_job.slot is not None  # noqa: S101 - callers drop jobs that wait
        return StopJob(assigned_job.slot, assigned_job.token, reason)

    def _forget_job(self, slot: Slot, assigned_job: AssignedJob, now: CurrentTime) -> None:
        del self._jobs.by_token[assigned_job.token]
        self._jobs.confirm_stopped(assigned_job)
        if assigned_job in slot.queue:
            slot.queue.remove(assigned_job)
        slot.since, slot.started = now.boot_time, now.wall if slot.queue else None

    def _forget_tasks(self) -> Iterator[Instruction]:
        used = {assigned.job.task_uid for assigned in self._jobs.by_token.values()}
        for uid in self._tasks.forget(used, limit=self.policy.max_tasks):
            for slot in self.slots:
                if uid in slot.tasks:
                    slot.tasks.discard(uid)
                    yield ForgetTask(slot.number, uid)

    @property
    def _supply(self) -> Supply:
        waiting, assigned = len(self._jobs.waiting), len(self._jobs.by_token)
        return Supply(self.node, self.slots, self.policy, self.pace, waiting, assigned)
