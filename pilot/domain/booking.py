"""What of a node its jobs take up: nothing is counted up and down; what is free follows from what
runs."""

from collections.abc import Iterable, Mapping

from sluice.contracts.gpus import Gpu
from sluice.contracts.pilots import AttemptReport, LeasedJob, PilotTask
from sluice.fit import Booked, Offer, Wanted, fit


def wanted_by(task: PilotTask, job: LeasedJob, node: Offer) -> Wanted:
    """While the job runs. Resources that the node does not offer are counted by the WMS, over all
    nodes."""
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    named = {name: amount for name, amount in needs.named.items() if name in node.amounts.named}
    gpus = needs.gpus and needs.gpus.with_memory(job.gpu_memory)
    return Wanted(needs.resources.cores, ram, gpus, needs.resources.counted_disk, named)


def with_full_gpu(report: AttemptReport, booked: Booked | None) -> AttemptReport:
    """With how much of a GPU the job had, where it says that this was not enough. ``booked``: for
    it."""
    if report.gpu_memory != 0:
        return report
    parts = booked.gpus.values() if booked else ()
    least = min((part.memory for part in parts), default=0)
    return report.model_copy(update={"gpu_memory": int(least) or None})


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
