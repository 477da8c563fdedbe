"""A progress bar for each step of a chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from sluice.clientkit.output import err
from sluice.contracts.chains.chains import Chain, ChainTask
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.states import StepState

_NOTES = {
    StepState.PENDING: "waits",
    StepState.STARTING: "starts",
    StepState.IN_PROGRESS: "",
    StepState.FINISHED: "done",
    StepState.FAILED: "[red]failed[/]",
    StepState.CANCELED: "[yellow]canceled[/]",
}


@dataclass(slots=True)
class _Bar:
    """The bar of a step, and whether its clock was started and stopped."""

    task: TaskID
    started: bool = False
    stopped: bool = False


class StepBars:
    """A context manager that shows the bars. Off a terminal, it draws them once.

    The clock of a step runs from the first lease of a job to the end of the step.
    ``label`` precedes the names of the steps to distinguish runs.
    """

    def __init__(self, progress: Progress | None = None, *, label: str = "") -> None:
        self._owns_progress = progress is None
        self._progress = progress or new_progress()
        self._label = label
        self._bars: dict[str, _Bar] = {}

    def __enter__(self) -> "StepBars":
        if self._owns_progress:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._owns_progress:
            self._progress.stop()

    def show(self, chain: Chain, tasks: Sequence[ChainTask]) -> None:
        """Update the bars for the current state of the chain."""
        jobs = {task.step: task.jobs for task in tasks}
        for step in chain.steps:
            counts = jobs.get(step.name)
            done = counts.finished + counts.failed + counts.canceled if counts else 0
            note = _NOTES[step.state]
            if counts and counts.failed:
                failed = f"[red]{counts.failed} of {format_count(counts.total, 'job')} failed[/]"
                note = failed if step.state is StepState.FAILED or not note else f"{note}, {failed}"
            bar = self._bars.get(step.name)
            if bar is None:
                name = f"{self._label}{step.name}"
                bar = _Bar(self._progress.add_task(name, start=False, total=None, note=note))
                self._bars[step.name] = bar
            has_begun = counts is not None and (counts.started_at is not None or done > 0)
            self._set_clock(bar, has_begun=has_begun, has_ended=step.state.final)
            total = counts.total if counts and (counts.total or step.state.final) else None
            self._progress.update(bar.task, completed=done, total=total, note=note)

    def _set_clock(self, bar: _Bar, *, has_begun: bool, has_ended: bool) -> None:
        if has_begun and not bar.started:
            self._progress.start_task(bar.task)
            bar.started = True
        if has_ended and bar.started and not bar.stopped:
            self._progress.stop_task(bar.task)
            bar.stopped = True


def new_progress() -> Progress:
    """Return a progress display on standard error."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=err,
    )
