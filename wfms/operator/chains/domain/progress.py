"""The progress of steps and chains: their tasks, what failed, and why steps wait."""

from dataclasses import dataclass

from sluice.contracts.chains.chains import Chain, ChainStep
from sluice.contracts.common.states import ChainState, StepState, TaskState
from sluice.contracts.jobs.tasks import TaskStatus
from sluice.scheduling.stalled_steps import is_stalled


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Failed jobs of a finished step or chain; ``nothing``: no job of a step finished."""

    failed: int
    nothing: bool


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
    def shortfall(self) -> Shortfall | None:
        """The failed jobs of the step, if it finished without them."""
        return find_shortfall(self.step.state, self.task)

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
