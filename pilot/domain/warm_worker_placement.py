"""Warm worker placement in a pilot's slots.

A slot has at most one warm worker. The functions choose the slot of a job and the warm workers that
have to end to free capacity.
"""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from pilot.domain.assigned_jobs import AssignedJob
from pilot.domain.slots import Slot, Slots
from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.jobs.warm_workers import LoadState, WarmWorkerState
from sluice.scheduling.fit import Allocation, find_allocation


def find_best_slot(idle: Sequence[Slot], assigned_job: AssignedJob, slots: Slots) -> Slot | None:
    """Return the best idle slot for a job.

    A slot with the job's warm worker comes first, then a slot without any. If no slot can be
    started, the slot with the warm worker that has been idle the longest is used.

    Returns:
        None if a new slot is better.
    """
    if assigned_job.kind is not None:
        alike = [
            slot for slot in idle if slot.warm_worker and slot.warm_worker.kind == assigned_job.kind
        ]
        if alike:
            return max(alike, key=lambda slot: slot.since)
    plain = [slot for slot in idle if slot.warm_worker is None]
    if plain:
        return next((slot for slot in plain if assigned_job.job.task_uid in slot.tasks), plain[0])
    if slots.startable or slots.starting:
        return None
    return min(idle, key=lambda slot: slot.since, default=None)


def plan_placement(
    assigned_job: AssignedJob,
    slot: Slot,
    slots: Slots,
    *,
    free: Allocation,
    devices: Mapping[str, Gpu],
) -> tuple[Allocation | None, list[Slot]]:
    """Return the allocation of a job in an idle slot, and the warm workers to unload first.

    Warm workers that have been idle the longest are unloaded first. ``free`` is the free capacity
    of the node, to which the memory of idle warm workers still belongs.

    Returns:
        The allocation, or None without capacity, and the slots whose warm workers must end.
    """
    others = [
        one for one in slots if one is not slot and one.warm_worker is not None and not one.queue
    ]
    allocation = find_allocation(
        _subtract_idle_warm_workers(free, others), assigned_job.request, devices
    )
    if allocation is not None:
        return allocation, []
    staying = sorted((one for one in others if one.idle), key=lambda one: one.since)
    for number in range(len(staying) + 1):
        if (
            find_allocation(
                _subtract_idle_warm_workers(free, staying[number:]), assigned_job.request, devices
            )
            is not None
        ):
            return None, staying[:number]
    return None, []


def _subtract_idle_warm_workers(free: Allocation, slots: Iterable[Slot]) -> Allocation:
    return reduce(operator.sub, (slot.warm_worker_allocation for slot in slots), free)


def list_warm_workers(slots: Slots, steps: Mapping[str, str]) -> Iterator[WarmWorkerState]:
    """Yield the warm worker that each slot has loaded or is loading with its first job.

    ``steps`` maps the kinds of the jobs at hand to steps.
    """
    for slot in slots:
        kind = slot.queue[0].kind if slot.queue else None
        if slot.warm_worker is not None and (kind is None or kind == slot.warm_worker.kind):
            state = LoadState.WORKING if slot.queue else LoadState.IDLE
            yield slot.warm_worker.model_copy(update={"state": state})
        elif kind is not None and slot.started is not None:
            yield WarmWorkerState(
                kind=kind,
                step=steps.get(kind, ""),
                since=slot.started,
                state=LoadState.LOADING,
            )
