"""The bars that show the jobs of tasks, and the styles and texts of results with failed jobs."""

from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.common.numbers import format_count
from sluice.contracts.jobs.tasks import TaskStatus
from wfms.operator.chains.domain.progress import Shortfall, StepProgress


class BarPart(StrEnum):
    """Parts of a bar, from left to right."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELED = "canceled"
    QUARANTINED = "quarantined"
    RUNNING = "running"
    ASKED = "asked"
    WAITING = "waiting"

    @property
    def words(self) -> str:
        """The part in words; only pilots know which of their leased jobs already run."""
        match self:
            case BarPart.RUNNING:
                return "with pilots"
            case BarPart.ASKED:
                return "asked of people"
        return self.value


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of a bar; ``start`` and ``share`` are in per cent of the bar."""

    part: BarPart
    jobs: int
    start: float
    share: float


@dataclass(frozen=True, slots=True)
class ProgressCounts:
    """Job counts of a task; ``killed`` are canceled jobs that a pilot had."""

    total: int
    by_part: dict[BarPart, int]
    killed: int = 0

    @property
    def done(self) -> int:
        """The number of jobs that have ended in any state."""
        return sum(
            self.by_part[part] for part in (BarPart.FINISHED, BarPart.FAILED, BarPart.CANCELED)
        )

    @property
    def sentence(self) -> str:
        """The counts in words: ``48 of 60 jobs finished, 1 failed, 9 canceled (2 killed)``."""
        first = f"{self.by_part[BarPart.FINISHED]} of {format_count(self.total, 'job')} finished"
        rest = [
            f"{jobs} {part.words}{self.note(part)}"
            for part, jobs in self.by_part.items()
            if jobs and part is not BarPart.FINISHED
        ]
        return ", ".join([first, *rest])

    def note(self, part: BarPart) -> str:
        """Return the additional text of a part."""
        return f" ({self.killed} killed)" if part is BarPart.CANCELED and self.killed else ""

    def segments(self) -> list[Segment]:
        """Return the segments that are not empty; their shares add up to 100."""
        segments: list[Segment] = []
        start = 0.0
        for part, jobs in self.by_part.items():
            if jobs:
                share = 100.0 * jobs / self.total
                segments.append(Segment(part, jobs, round(start, 3), round(share, 3)))
                start += share
        return segments


def count_jobs_by_part(status: TaskStatus) -> ProgressCounts:
    """Return the job counts of a task."""
    return ProgressCounts(
        status.total,
        {
            BarPart.FINISHED: status.finished,
            BarPart.FAILED: status.failed,
            BarPart.CANCELED: status.canceled,
            BarPart.QUARANTINED: status.quarantined,
            BarPart.RUNNING: status.running + status.leased,
            BarPart.ASKED: status.asked,
            BarPart.WAITING: status.ready,
        },
        status.killed or 0,
    )


def find_job_counts(status: TaskStatus | None) -> ProgressCounts | None:
    """Return the job counts of a task, or None if they are not known or there are no jobs."""
    return None if status is None or status.total == 0 else count_jobs_by_part(status)


def describe_shortfall(shortfall: Shortfall) -> str:
    """Return the shortfall in words."""
    jobs = format_count(shortfall.failed, "job", grouped=True)
    return f"{jobs} failed, none finished" if shortfall.nothing else f"{jobs} failed"


def get_shortfall_style(shortfall: Shortfall) -> str:
    """Return the name of the style of incomplete results."""
    return "void" if shortfall.nothing else "short"


def get_step_style(progress: StepProgress) -> str:
    """Return the name of the style for the state of a step."""
    shortfall = progress.shortfall
    return progress.step.state.value if shortfall is None else get_shortfall_style(shortfall)
