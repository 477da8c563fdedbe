"""Allocation of the node's resources to jobs.

There are no counters: the free capacity is computed from the running jobs.
"""

from collections.abc import Iterable, Mapping

from sluice.contracts.jobs.gpus import Gpu
from sluice.contracts.pilots.leases import LeasedJob, PilotTask
from sluice.contracts.pilots.reports import AttemptReport
from sluice.scheduling.fit import Allocation, NodeCapacity, ResourceRequest, find_allocation


def compute_resource_request(
    task: PilotTask, job: LeasedJob, node: NodeCapacity
) -> ResourceRequest:
    """Return the resource request of a running job.

    Named resources that the node does not offer are left out: the WMS counts them over all nodes.
    """
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    amounts = {name: amount for name, amount in needs.named.items() if name in node.amounts.named}
    gpus = needs.gpus and needs.gpus.with_memory(job.gpu_memory)
    return ResourceRequest(needs.resources.cores, ram, gpus, needs.resources.counted_disk, amounts)


def add_gpu_memory(report: AttemptReport, allocation: Allocation | None) -> AttemptReport:
    """Add the job's GPU memory to a report that says that the GPU memory was too small.

    ``allocation`` belongs to the job.
    """
    if report.gpu_memory != 0:
        return report
    parts = allocation.gpus.values() if allocation else ()
    smallest_part = min((part.memory for part in parts), default=0)
    return report.model_copy(update={"gpu_memory": int(smallest_part) or None})


def count_startable(
    free: Allocation, jobs: Iterable[ResourceRequest], devices: Mapping[str, Gpu]
) -> int:
    """Return how many jobs, in order, fit beside each other.

    The first job that does not fit blocks all jobs behind it.
    """
    count = 0
    for request in jobs:
        allocation = find_allocation(free, request, devices)
        if allocation is None:
            break
        free, count = free - allocation, count + 1
    return count
