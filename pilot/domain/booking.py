"""What of a node its jobs take up: nothing is counted up and down; what is free follows from what
runs."""

from collections.abc import Iterable, Mapping

from sluice.contracts.gpus import Gpu
from sluice.contracts.pilots import LeasedJob, PilotTask
from sluice.fit import Booked, Offer, Wanted, fit


def wanted_by(task: PilotTask, job: LeasedJob, node: Offer) -> Wanted:
    """While the job runs. Resources that the node does not offer are counted by the WMS, over all
    nodes."""
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    named = {name: amount for name, amount in needs.named.items() if name in node.amounts.named}
    return Wanted(needs.resources.cores, ram, needs.gpus, needs.resources.counted_disk, named)


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
