"""How much memory a job may use, beside what it asked for."""

from dataclasses import dataclass

from pilot.runner.protocol import RunnerSettings
from sluice.contracts.pilots import LeasedJob, PilotTask


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """All in MiB. ``asked``: by the job; 0: nobody asked for any. ``counted``: what the node has
    kept free for it: less is no fault of the job's. ``most``: what it may use; 0: no limit."""

    asked: int
    counted: int
    most: float

    @property
    def note(self) -> str:
        """What the limit follows from, as part of a sentence."""
        if self.asked:
            return (
                f"having asked for {self.asked} MiB (ramMin), which lets it use {self.most:.0f} MiB"
            )
        return (
            f"all that this node lets a job have that asks for none (ramMin): {self.most:.0f} MiB"
        )


def memory_limit_of(task: PilotTask, job: LeasedJob, settings: RunnerSettings) -> MemoryLimit:
    """A job that has run out of memory before asks for more than its task."""
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
