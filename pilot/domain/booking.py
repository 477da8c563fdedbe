"""What of a node its jobs take up: nothing is counted up and down; what is free follows from what
runs."""

from collections.abc import Iterable, Mapping

from sluice.contracts.gpus import Gpu
from sluice.contracts.pilots import LeasedJob, PilotTask
from sluice.fit import Booked, Wanted, fit


def wanted_by(task: PilotTask, job: LeasedJob) -> Wanted:
    """While the job runs."""
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    return Wanted(needs.resources.cores, ram, needs.gpus)


def how_many_start(free: Booked, jobs: Iterable[Wanted], devices: Mapping[str, Gpu]) -> int:
    """Of these, in order, that have room beside one another; the first that has none lets none
    pass."""
    number = 0
    for wanted in jobs:
        booked = fit(free, wanted, devices)
        if booked is None:
            break
        free, number = free.minus(booked), number + 1
    return number
