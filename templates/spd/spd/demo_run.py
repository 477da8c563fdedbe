"""A run of the demonstration, as planned and as processed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sluice.clientkit.transfer.results import Output
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.jobs.tasks import Job
from spd.report import summarise

#: With fewer frames, one damaged frame leaves less than 90 %, and the workflow fails the run.
MIN_FRAMES_WITH_DAMAGE = 10


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run to simulate, with the number of a frame to damage."""

    number: int
    seed: int
    damaged: int | None = None

    def damaged_frame(self, frames: int) -> int | None:
        """Return the frame to damage among ``frames``, or None.

        With too few frames, the loss of one would end the run.
        """
        if self.damaged is None or frames < MIN_FRAMES_WITH_DAMAGE:
            return None
        return min(self.damaged, frames)


@dataclass(slots=True)
class ProcessedRun:
    """A run after its way through the system.

    ``seconds`` is the time from the closed data set to the output on its storage.
    """

    plan: PlannedRun
    frames: int
    raw_bytes: int
    events_truth: int
    chain: Chain
    tasks: Sequence[ChainTask]
    failures: Sequence[tuple[str, Job]]
    seconds: float
    outputs: Sequence[Output] = field(default_factory=list)
    exact: bool = False
    """The events of the merged ROOT files equal those of the generator, in the same order."""

    def root_files(self) -> list[Path]:
        """Return the paths of the ROOT files, in order."""
        return [output.path for output in self.outputs if output.path.suffix == ".root"]

    def as_dict(self) -> dict[str, object]:
        """Return the figures of the run for the summary."""
        return {
            "run": self.plan.number,
            "frames": self.frames,
            "failed_frames": sorted(self._failed_frames()),
            "events_truth": self.events_truth,
            "events_kept": summarise(self.root_files()).events_kept,
            "events_exact": self.exact,
            "output_files": [
                {
                    "path": str(output.path),
                    "sha256": output.file.checksum.removeprefix("sha256:"),
                    "bytes": output.file.size,
                }
                for output in self.outputs
            ],
            "seconds": round(self.seconds, 2),
        }

    def _failed_frames(self) -> set[int]:
        names = {name for _, job in self.failures for name in job.inputs}
        return {int(name.rpartition("frame")[2].split(".")[0]) for name in names}
