"""The progress of steps, tasks and chains: job counts, and the parts of a bar that shows them."""

from dataclasses import dataclass
from enum import StrEnum

from sluice.contracts.chains.chains import INCOMPLETE, Chain, ChainStep
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.states import ChainState, StepState, TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.scheduling.stalled_steps import is_stalled


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


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Failed jobs of a finished step or chain; ``nothing``: no job of a step finished."""

    failed: int
    nothing: bool

    @property
    def sentence(self) -> str:
        """The shortfall in words."""
        jobs = format_count(self.failed, "job", grouped=True)
        return f"{jobs} failed, none finished" if self.nothing else f"{jobs} failed"

    @property
    def label(self) -> str:
        """The state in a word, because incomplete results are not shown as finished."""
        return INCOMPLETE

    @property
    def tone(self) -> str:
        """The name of the style."""
        return "void" if self.nothing else "short"


def find_shortfall(state: StepState, task: TaskStatus | None) -> Shortfall | None:
    """Return the shortfall of a finished step, or None if no job failed or it is not known."""
    if state is not StepState.FINISHED or task is None or not task.failed:
        return None
    return Shortfall(task.failed, not task.finished)


@dataclass(frozen=True, slots=True)
class StepProgress:
    """The progress of a step.

    Attributes:
        task: None if the WMS does not know the task or does not answer.
        over: Whether the chain has ended.
        wait: Why its jobs wait; empty if jobs run or it was not looked up.
    """

    step: ChainStep
    task: TaskStatus | None
    over: bool = False
    wait: str = ""

    @property
    def stalled(self) -> bool:
        """Whether jobs are ready and none is leased or runs."""
        task = self.task
        return (
            task is not None
            and not task.state.final
            and is_stalled(ready=task.ready, leased=task.leased, running=task.running)
        )

    @property
    def counts(self) -> ProgressCounts | None:
        """The job counts, if there are jobs."""
        return None if self.task is None or self.task.total == 0 else count_jobs_by_part(self.task)

    @property
    def shortfall(self) -> Shortfall | None:
        """The failed jobs of the step, if it finished without them."""
        return find_shortfall(self.step.state, self.task)

    @property
    def tone(self) -> str:
        """The name of the style for the state."""
        return self.step.state.value if self.shortfall is None else self.shortfall.tone

    @property
    def note(self) -> str:
        """The reason of the state in a few words; empty if the counts say everything."""
        if self.step.taken_from is not None:
            return "taken over from an earlier chain"
        if self.step.reason or (self.task is not None and self.task.reason):
            return self.step.reason or (self.task.reason if self.task else "")
        match self.step.state:
            case StepState.PENDING:
                return "never began" if self.over else "waits for the step before it"
            case StepState.STARTING:
                return "its storages and data sets are being created"
            case StepState.IN_PROGRESS:
                return self._in_progress
            case _:
                return ""

    @property
    def _in_progress(self) -> str:
        if self.task is None:
            return "on its way to the WMS"
        return "waits until its input is complete" if self.task.state is TaskState.WAITING else ""


@dataclass(frozen=True, slots=True)
class ChainProgress:
    """The progress of a chain."""

    chain: Chain
    steps: list[StepProgress]

    @property
    def steps_done(self) -> int:
        """The number of finished steps."""
        return sum(progress.step.state is StepState.FINISHED for progress in self.steps)

    @property
    def shortfall(self) -> Shortfall | None:
        """The failed jobs of all steps, if the chain finished without them."""
        shortfalls = [step.shortfall for step in self.steps if step.shortfall is not None]
        if self.chain.state is not ChainState.FINISHED or not shortfalls:
            return None
        return Shortfall(
            sum(shortfall.failed for shortfall in shortfalls),
            any(shortfall.nothing for shortfall in shortfalls),
        )

    @property
    def reason(self) -> str:
        """The reason of the chain, or of its first step that failed or was canceled."""
        if self.chain.reason or not self.chain.state.final:
            return self.chain.reason
        ended = (
            step
            for step in self.chain.steps
            if step.state in {StepState.FAILED, StepState.CANCELED} and step.reason
        )
        return next((f"step {step.name}: {step.reason}" for step in ended), "")


def chain_progress(chain: Chain, tasks: dict[str, TaskStatus]) -> ChainProgress:
    """Return the progress of a chain; ``tasks`` are keyed by uid as text."""
    return ChainProgress(
        chain,
        [
            StepProgress(step, tasks.get(str(step.task_uid)), chain.state.final)
            for step in chain.steps
        ],
    )
