"""Tools that stay loaded in a pilot's slots, at most one in each: which slot gets which job, and
what has to go where there is no room."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce

from pilot.domain.held_jobs import HeldJob
from pilot.domain.slots import Slot, Slots
from sluice.contracts.gpus import Gpu
from sluice.contracts.loaded import LoadedTool, LoadState
from sluice.fit import Booked, fit


def best_slot(idle: Sequence[Slot], held: HeldJob, slots: Slots) -> Slot | None:
    """One that has the job's tool loaded; else one that has none; else, where no more can be
    started, the one whose tool had its last job the longest ago. None: a new one is better."""
    if held.kind is not None:
        alike = [slot for slot in idle if slot.loaded and slot.loaded.kind == held.kind]
        if alike:
            return max(alike, key=lambda slot: slot.since)
    plain = [slot for slot in idle if slot.loaded is None]
    if plain:
        return next((slot for slot in plain if held.job.task_uid in slot.tasks), plain[0])
    if slots.startable or slots.coming:
        return None
    return min(idle, key=lambda slot: slot.since, default=None)


def place(
    held: HeldJob, slot: Slot, slots: Slots, *, free: Booked, devices: Mapping[str, Gpu]
) -> tuple[Booked | None, list[Slot]]:
    """What the job takes in an idle slot (None: there is no room yet), and the slots whose tools
    are to go for it, those first that have been idle the longest. It has their room when they have
    gone. ``free``: of the node, what is loaded and has no job left aside."""
    others = [one for one in slots if one is not slot and one.loaded is not None and not one.queue]
    booked = fit(_less(free, others), held.wanted, devices)
    if booked is not None:
        return booked, []
    staying = sorted((one for one in others if one.idle), key=lambda one: one.since)
    for number in range(len(staying) + 1):
        if fit(_less(free, staying[number:]), held.wanted, devices) is not None:
            return None, staying[:number]
    return None, []


def _less(free: Booked, loaded: Iterable[Slot]) -> Booked:
    return reduce(Booked.minus, (slot.kept for slot in loaded), free)


def loaded_of(slots: Slots, steps: Mapping[str, str]) -> Iterator[LoadedTool]:
    """What each slot has loaded, or is loading with its first job. ``steps``: of the kinds of jobs
    at hand."""
    for slot in slots:
        kind = slot.queue[0].kind if slot.queue else None
        if slot.loaded is not None and (kind is None or kind == slot.loaded.kind):
            state = LoadState.WORKING if slot.queue else LoadState.IDLE
            yield slot.loaded.model_copy(update={"state": state})
        elif kind is not None and slot.started is not None:
            yield LoadedTool(
                kind=kind,
                step=steps.get(kind, ""),
                since=slot.started,
                state=LoadState.LOADING,
            )
