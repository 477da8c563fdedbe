"""The outcome of a watch, from the state of its task or data set."""

from dataclasses import dataclass
from typing import assert_never

from sluice.contracts.common.states import DatasetState, StepState, TaskState, WatchState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskStatus


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task or upload has ended. ``failed_jobs`` is for tasks only."""

    state: WatchState
    failed_jobs: int = 0
    reason: str = ""


def task_outcome(task: TaskStatus) -> Outcome | None:
    """Return the outcome of a task, or None while it continues."""
    match task.state:
        case TaskState.WAITING | TaskState.SPLITTING | TaskState.ACTIVE:
            return None
        case TaskState.FINISHED:
            return Outcome(WatchState.FINISHED, task.failed, task.reason)
        case TaskState.FAILED:
            return Outcome(WatchState.FAILED, task.failed, task.reason)
        case TaskState.CANCELED:
            return Outcome(WatchState.CANCELED, task.failed, task.reason)
    assert_never(task.state)


def upload_outcome(dataset: Dataset) -> Outcome | None:
    """Return the outcome of an upload, or None while it continues or has not begun."""
    if dataset.lost is not None:
        return Outcome(
            WatchState.FAILED,
            reason=f"it cannot succeed: {dataset.lost}. Run the chain again (`sluice chain rerun`):"
            " jobs whose outputs are lost run again",
        )
    match dataset.state:
        case DatasetState.OPEN | DatasetState.CLOSED | DatasetState.UPLOADING:
            return None
        case DatasetState.UPLOADED:
            return Outcome(WatchState.FINISHED)
        case DatasetState.DELETING | DatasetState.DELETED:
            return Outcome(
                WatchState.FAILED,
                reason=f"data set {dataset.name} was deleted before it was uploaded",
            )
    assert_never(dataset.state)


def unsent_outcome(step: StepState) -> Outcome | None:
    """Return the outcome of a task that the WMS does not know, or None.

    The task has ended if its step ended without sending it. Otherwise it is still to be sent.
    """
    return Outcome(WatchState.CANCELED, reason="the task was never sent") if step.final else None


def final_task_state(state: WatchState) -> TaskState:
    """Return the state of an ended watch for the ``TaskEnded`` of the chain service.

    Raises:
        ValueError: The watch is in progress.
    """
    match state:
        case WatchState.FINISHED:
            return TaskState.FINISHED
        case WatchState.FAILED:
            return TaskState.FAILED
        case WatchState.CANCELED:
            return TaskState.CANCELED
        case WatchState.IN_PROGRESS:
            raise ValueError("a watch in progress has no final state")
    assert_never(state)
