"""Limit of the memory that a job may use."""

from dataclasses import dataclass

from pilot.runner.protocol import RunnerSettings
from sluice.contracts.pilots.leases import LeasedJob, PilotTask


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memory of a job in MiB.

    Attributes:
        request: The resource request, 0 if there is none.
        reservation: What the node keeps free for the job. If the node lacks it, the job is not at
            fault.
        maximum: The limit, 0 if there is none.
    """

    request: int
    reservation: int
    maximum: float

    @property
    def note(self) -> str:
        """Return the reason of the limit as part of a sentence."""
        maximum = f"{self.maximum:.0f} MiB"
        if self.request:
            return f"having asked for {self.request} MiB (ramMin), which lets it use {maximum}"
        return f"the maximum on this node for a job without a memory request (ramMin): {maximum}"


def choose_memory_limit(task: PilotTask, job: LeasedJob, settings: RunnerSettings) -> MemoryLimit:
    """Return the memory limit of a job.

    A job that ran out of memory in an earlier attempt requests more than its task.
    """
    request, reservation = (
        (task.needs.resources.ram, task.needs.resources.counted_ram)
        if job.ram is None
        else (job.ram, job.ram)
    )
    maximum = (
        max(settings.memory_floor, request * settings.memory_factor)
        if request
        else settings.memory_unasked
    )
    return MemoryLimit(request, reservation, maximum)
