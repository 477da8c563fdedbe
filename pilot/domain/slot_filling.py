"""Which slot gets which waiting job, and when more slots start."""

from collections.abc import Iterator
from dataclasses import dataclass

from pilot.domain.allocation import count_startable
from pilot.domain.assigned_jobs import AssignedJob, PilotJobs
from pilot.domain.known_tasks import KnownTasks
from pilot.domain.model import (
    CurrentTime,
    DescribeTask,
    Instruction,
    RunJob,
    StartSlot,
    UnloadWarmWorker,
)
from pilot.domain.prefetch import MeanDuration, PrefetchPolicy
from pilot.domain.slots import Slot, Slots
from pilot.domain.warm_worker_placement import find_best_slot, plan_placement
from sluice.scheduling.fit import Allocation, NodeCapacity


@dataclass(frozen=True, slots=True)
class SlotFilling:
    """Hands the waiting jobs of a pilot to its slots."""

    node: NodeCapacity
    slots: Slots
    policy: PrefetchPolicy
    pace: MeanDuration
    jobs: PilotJobs
    tasks: KnownTasks

    def fill(self, free: Allocation, now: CurrentTime) -> Iterator[Instruction]:
        """Hand waiting jobs to idle slots, in order, and start slots where there is capacity.

        A job that does not fit blocks all jobs behind it, so that small jobs do not starve a large
        job. A slot gets a second job only if jobs are short. ``free`` is the free capacity of the
        node.
        """
        idle = self.slots.idle
        while self.jobs.waiting and (
            slot := find_best_slot(idle, self.jobs.waiting[0], self.slots)
        ):
            allocation, slots_to_unload = plan_placement(
                self.jobs.waiting[0], slot, self.slots, free=free, devices=self.node.devices
            )
            for other in slots_to_unload:
                other.unloading = now.boot_time
                yield UnloadWarmWorker(other.number)
            if allocation is None:
                break
            idle.remove(slot)
            yield from self._hand(self.jobs.waiting.popleft(), slot, allocation, now)
            free -= allocation
        else:
            startable = count_startable(
                free, (assigned.request for assigned in self.jobs.waiting), self.node.devices
            )
            yield from self.start_slots(startable - self.slots.starting)
        if self.pace.mean is not None and self.pace.mean < self.policy.short:
            yield from self._queue_next_jobs(free - self.slots.warm_worker_allocation, now)

    def _queue_next_jobs(self, free: Allocation, now: CurrentTime) -> Iterator[Instruction]:
        """Give busy slots their next job. ``free`` is the free capacity of the node."""
        for slot in self.slots.busy:
            if not self.jobs.waiting:
                return
            if (
                not slot.ready
                or len(slot.queue) > 1
                or slot.queue[0].kind != self.jobs.waiting[0].kind
            ):
                continue
            before = slot.allocation
            allocation = slot.fit_job(self.jobs.waiting[0], free, self.node.devices)
            if allocation is not None:
                yield from self._hand(self.jobs.waiting.popleft(), slot, allocation, now)
                free = free + before - slot.allocation

    def _hand(
        self, assigned_job: AssignedJob, slot: Slot, allocation: Allocation, now: CurrentTime
    ) -> Iterator[Instruction]:
        if assigned_job.job.task_uid not in slot.tasks:
            slot.tasks.add(assigned_job.job.task_uid)
            yield DescribeTask(slot.number, self.tasks[assigned_job.job.task_uid])
        assigned_job.slot, assigned_job.allocation = slot.number, allocation
        slot.queue.append(assigned_job)
        if slot.queue[0] is assigned_job:
            slot.since, slot.started = now.boot_time, now.wall
        secrets, gpus = self.tasks[assigned_job.job.task_uid].needs.secrets, tuple(allocation.gpus)
        yield RunJob(
            slot.number, assigned_job.job, assigned_job.deadline, secrets=bool(secrets), gpus=gpus
        )

    def start_slots(self, number: int) -> Iterator[Instruction]:
        """Start up to ``number`` more slots, as far as the maximum allows."""
        for slot in self.slots.start(number):
            yield StartSlot(slot.number)
