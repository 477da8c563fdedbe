"""Limit of the memory that a job may use."""

from dataclasses import dataclass

from pilot.runner.protocol import RunnerSettings
from sluice.contracts.pilots.pilots import LeasedJob, PilotTask


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memory of a job in MiB.

    ``asked`` is the resource request, 0 if there is none. ``counted`` is what the node keeps free
    for the job: if the node lacks it, the job is not at fault. ``most`` is the limit, 0 if there is
    none.
    """

    asked: int
    counted: int
    most: float

    @property
    def note(self) -> str:
        """Return the reason of the limit as part of a sentence."""
        if self.asked:
            return (
                f"having asked for {self.asked} MiB (ramMin), which lets it use {self.most:.0f} MiB"
            )
        return (
            f"all that this node lets a job have that asks for none (ramMin): {self.most:.0f} MiB"
        )


def memory_limit_of(task: PilotTask, job: LeasedJob, settings: RunnerSettings) -> MemoryLimit:
    """Return the memory limit of a job.

    A job that has run out of memory before requests more than its task.
    """
    asked, counted = (
        (task.needs.resources.ram, task.needs.resources.counted_ram)
        if job.ram is None
        else (job.ram, job.ram)
    )
    most = (
        max(settings.memory_floor, asked * settings.memory_factor)
        if asked
        else settings.memory_unasked
    )
    return MemoryLimit(asked, counted, most)
