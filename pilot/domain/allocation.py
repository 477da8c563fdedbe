"""Allocation of the node's resources to jobs.

There are no counters: the free capacity is computed from the running jobs.
"""

from collections.abc import Iterable, Mapping

from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.pilots.pilots import AttemptReport, LeasedJob, PilotTask
from sluice.scheduling.fit import Allocation, NodeCapacity, ResourceRequest, fit


def resource_request_of(task: PilotTask, job: LeasedJob, node: NodeCapacity) -> ResourceRequest:
    """Return the resource request of a running job.

    Named resources that the node does not offer are left out: the WMS counts them over all nodes.
    """
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    named = {name: amount for name, amount in needs.named.items() if name in node.amounts.named}
    gpus = needs.gpus and needs.gpus.with_memory(job.gpu_memory)
    return ResourceRequest(needs.resources.cores, ram, gpus, needs.resources.counted_disk, named)


def with_full_gpu(report: AttemptReport, booked: Allocation | None) -> AttemptReport:
    """Add the job's GPU memory to a report that says that the GPU memory was too small.

    ``booked`` is the allocation of the job.
    """
    if report.gpu_memory != 0:
        return report
    parts = booked.gpus.values() if booked else ()
    least = min((part.memory for part in parts), default=0)
    return report.model_copy(update={"gpu_memory": int(least) or None})


def count_startable(
    free: Allocation, jobs: Iterable[ResourceRequest], devices: Mapping[str, Gpu]
) -> int:
    """Return how many jobs, in order, fit beside each other.

    The first job that does not fit blocks all jobs behind it.
    """
    number = 0
    for wanted in jobs:
        booked = fit(free, wanted, devices)
        if booked is None:
            break
        free, number = free.minus(booked), number + 1
    return number
