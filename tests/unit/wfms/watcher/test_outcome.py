"""Conclusions of the watcher from states of tasks and data sets."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from sluice.contracts.common.states import (
    DatasetState,
    DatasetType,
    StepState,
    TaskMode,
    TaskState,
    WatchState,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import TaskStatus
from wfms.watcher.domain.outcome import (
    Outcome,
    final_task_state,
    task_outcome,
    unsent_outcome,
    upload_outcome,
)

TIME = datetime(2024, 1, 1, tzinfo=UTC)
UID = UUID(int=1)


@pytest.mark.parametrize("state", TaskState)
def test_final_task_state_becomes_the_outcome(state: TaskState) -> None:
    status = TaskStatus(
        uid=UID,
        chain_uid=UID,
        step="s",
        template="t",
        state=state,
        mode=TaskMode.MAP,
        rank=1,
        total=5,
        ready=0,
        leased=0,
        running=0,
        finished=3,
        failed=2,
        canceled=0,
        quarantined=0,
        created_at=TIME,
        reason="because",
    )
    outcome = task_outcome(status)
    if not state.final:
        assert outcome is None
        return
    assert outcome == Outcome(WatchState(str(state)), 2, "because")
    assert final_task_state(outcome.state) is state


def test_upload_of_a_lost_file_fails() -> None:
    dataset = Dataset(
        uid=UID,
        name="n",
        type=DatasetType.INTERMEDIATE,
        state=DatasetState.UPLOADING,
        meta={},
        count_files=1,
        bytes=1,
        timestamp=TIME,
        lost="file 'a' is not there",
    )
    outcome = upload_outcome(dataset)
    assert outcome is not None
    assert outcome.state is WatchState.FAILED
    assert "file 'a' is not there" in outcome.reason


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (DatasetState.OPEN, None),
        (DatasetState.CLOSED, None),
        (DatasetState.UPLOADING, None),
        (DatasetState.UPLOADED, WatchState.FINISHED),
        (DatasetState.DELETING, WatchState.FAILED),
        (DatasetState.DELETED, WatchState.FAILED),
    ],
)
def test_data_set_state_becomes_the_outcome_of_its_upload(
    state: DatasetState, expected: WatchState | None
) -> None:
    dataset = Dataset(
        uid=UID,
        name="n",
        type=DatasetType.OUTPUT,
        state=state,
        meta={},
        count_files=0,
        bytes=0,
        timestamp=TIME,
    )
    outcome = upload_outcome(dataset)
    assert (None if outcome is None else outcome.state) is expected


@pytest.mark.parametrize("state", StepState)
def test_task_unknown_to_the_wms_has_ended_if_its_step_has_ended(state: StepState) -> None:
    assert (unsent_outcome(state) is not None) is state.final


def test_watch_in_progress_has_no_final_state() -> None:
    with pytest.raises(ValueError, match="in progress"):
        final_task_state(WatchState.IN_PROGRESS)
