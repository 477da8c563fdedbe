"""Tests of when a pilot requests jobs after its own disk had no space for a job."""

from pilot.domain.disk_pauses import FIRST_PAUSE, MAX_PAUSE, DiskPauses
from sluice.contracts.common.states import AttemptOutcome, ErrorClass
from sluice.contracts.data.storage_space import FullStorage
from sluice.contracts.pilots.reports import AttemptReport
from tests.unit.pilot.domain.cores import EPOCH

FINISHED = AttemptReport(id=1, attempt=1, outcome=AttemptOutcome.FINISHED, ended_at=EPOCH)
NO_SPACE = FINISHED.model_copy(
    update={"outcome": AttemptOutcome.FAILED, "error_class": ErrorClass.NO_SPACE}
)


def test_pauses_grow_while_the_disk_is_full_and_one_job_is_tried_after_each() -> None:
    pauses, boot_time, taken = DiskPauses(), 0.0, 0
    assert pauses.limit_jobs(4, boot_time) == 4
    while boot_time < 10 * MAX_PAUSE:
        jobs = pauses.limit_jobs(4, boot_time)
        taken += jobs
        for _ in range(jobs):
            pauses.attempt_ended(NO_SPACE, boot_time)
        boot_time += 1
    assert taken < 4 + 7 + 10, "few jobs are tried in 3000 seconds"


def test_jobs_that_fail_at_the_same_time_begin_a_single_pause() -> None:
    pauses = DiskPauses()
    for _ in range(4):
        pauses.attempt_ended(NO_SPACE, 0.0)
    assert (pauses.limit_jobs(4, FIRST_PAUSE - 1), pauses.limit_jobs(4, FIRST_PAUSE)) == (0, 1)


def test_successful_job_ends_the_pauses() -> None:
    pauses = DiskPauses()
    pauses.attempt_ended(NO_SPACE, 0.0)
    assert pauses.is_persistent
    pauses.attempt_ended(FINISHED, 1.0)
    assert (pauses.limit_jobs(4, 1.0), pauses.is_persistent) == (4, False)


def test_full_storage_does_not_pause_the_pilot() -> None:
    pauses = DiskPauses()
    storage = FullStorage(storage="file:///data/a", needed=5)
    pauses.attempt_ended(NO_SPACE.model_copy(update={"no_space": storage}), 0.0)
    assert pauses.limit_jobs(4, 0.0) == 4
