"""What of a node its jobs take up: nothing is counted up and down; what is free follows from what
runs."""

from sluice.contracts.pilots import LeasedJob, PilotTask
from sluice.fit import Wanted


def wanted_by(task: PilotTask, job: LeasedJob) -> Wanted:
    """While the job runs."""
    needs = task.needs
    ram = needs.resources.counted_ram if job.ram is None else job.ram
    return Wanted(needs.resources.cores, ram, needs.gpus)
