"""Duplicate attempts go to suitable pilots, and only one attempt at a job counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import pytest

from sluice.contracts.common.naming import output_name
from sluice.contracts.common.states import AttemptOutcome, ErrorClass, JobState, ReportAnswer
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.steps import RankStep
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots.leases import FreeCapacity, JobToken, LeaseRequest
from tests.integration.wms.wms_fixture import NOW, WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilot_times import WorkKind
from wms.usecases.leasing import start_duplicate_attempts
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.pilots.get_pilot import get_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.get_job import get_job
from wms.usecases.tasks.prioritise_step import prioritise_step
from wms.usecases.times.get_timeline import get_timeline
from wms.usecases.times.learn_times import learn_times
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000, named={"licence": 2.0})
ABANDON, CANCEL = "abandon", "cancel"


@dataclass(frozen=True)
class AttemptPair:
    """A task with a job that one pilot runs and another pilot attempts as a duplicate."""

    wms: WmsFixture
    task: Task
    slow: UUID
    quick: UUID
    first: ClaimedJob
    second: ClaimedJob

    async def attempts(self) -> list[tuple[int, UUID, AttemptOutcome | None]]:
        job = await get_job(self.wms.context, self.first.id)
        return [(one.attempt, UUID(one.pilot_uid), one.outcome) for one in job.attempts]

    async def commands(self, pilot: UUID, job: ClaimedJob) -> list[str]:
        answer = await self.wms.send_heartbeat(pilot, running=[job])
        return [command.kind for command in answer.commands]


@pytest.fixture
async def pair(wms: WmsFixture) -> AttemptPair:
    task = await wms.add_task(make_task(retry=2), jobs=1)
    slow, quick = await wms.add_pilot(name="slow"), await wms.add_pilot(name="quick")
    (first,) = await wms.lease(slow)
    await wms.send_heartbeat(slow, running=[first])
    second = await wms.start_duplicate(quick, first)
    assert second is not None
    assert (second.id, second.attempt) == (first.id, 2)
    return AttemptPair(wms, task, slow, quick, first, second)


async def test_first_report_wins_and_the_other_attempt_is_abandoned(pair: AttemptPair) -> None:
    wms = pair.wms
    assert await pair.commands(pair.slow, pair.first) == []
    assert await pair.commands(pair.quick, pair.second) == []
    assert await wms.finish(pair.quick, pair.second) == [ReportAnswer.ACCEPTED]
    assert await pair.attempts() == [
        (1, pair.slow, AttemptOutcome.CANCELED),
        (2, pair.quick, AttemptOutcome.FINISHED),
    ]
    assert await pair.commands(pair.slow, pair.first) == [ABANDON]
    assert await wms.finish(pair.slow, pair.first) == [ReportAnswer.STALE]
    assert await wms.finish(pair.quick, pair.second) == [ReportAnswer.ALREADY]
    status = await wms.status(pair.task)
    assert (status.finished, status.failed_attempts) == (1, 0)
    assert (await wms.sent_messages()).files[pair.task.main_output.dat_out_uid] == [
        (0, output_name(0, 2, "events"))
    ]


async def test_first_attempt_may_win_against_the_duplicate(pair: AttemptPair) -> None:
    assert await pair.wms.finish(pair.slow, pair.first) == [ReportAnswer.ACCEPTED]
    assert await pair.commands(pair.quick, pair.second) == [ABANDON]
    assert await pair.wms.finish(pair.quick, pair.second) == [ReportAnswer.STALE]
    assert await pair.attempts() == [
        (1, pair.slow, AttemptOutcome.FINISHED),
        (2, pair.quick, AttemptOutcome.CANCELED),
    ]


@pytest.mark.parametrize("number", [1, 2])
async def test_failure_does_not_count_while_the_other_attempt_runs(
    pair: AttemptPair, number: int
) -> None:
    wms = pair.wms
    both_attempts = [(pair.slow, pair.first), (pair.quick, pair.second)]
    (loser, lost_job), (other, running_job) = both_attempts if number == 1 else both_attempts[::-1]
    assert await wms.fail(loser, lost_job, error=ErrorClass.TOOL_REFUSED) == [ReportAnswer.ACCEPTED]
    status = await wms.status(pair.task)
    assert (status.running, status.failed, status.failed_attempts) == (1, 0, 0)
    assert await pair.commands(other, running_job) == []
    assert await wms.start_duplicate(loser, running_job) is None, (
        "the duplicate went to the pilot on which the job failed"
    )
    assert await wms.finish(other, running_job) == [ReportAnswer.ACCEPTED]
    assert {(attempt, outcome) for attempt, _, outcome in await pair.attempts()} == {
        (lost_job.attempt, AttemptOutcome.FAILED),
        (running_job.attempt, AttemptOutcome.FINISHED),
    }


async def test_job_has_at_most_two_attempts_at_a_time_and_two_duplicates(pair: AttemptPair) -> None:
    wms = pair.wms
    third, fourth = [await wms.add_pilot(name=name) for name in ("third", "fourth")]
    assert await wms.start_duplicate(third, pair.first) is None
    await wms.fail(pair.quick, pair.second)
    again = await wms.start_duplicate(third, pair.first)
    assert again is not None
    assert again.attempt == 3
    await wms.fail(third, again)
    assert await wms.start_duplicate(fourth, pair.first) is None, "a third duplicate began"
    assert await wms.finish(pair.slow, pair.first) == [ReportAnswer.ACCEPTED]
    assert [number for number, *_ in await pair.attempts()] == [1, 2, 3]


async def test_failure_of_both_attempts_counts_once_and_the_next_attempt_has_a_new_number(
    pair: AttemptPair,
) -> None:
    wms = pair.wms
    await wms.fail(pair.quick, pair.second)
    await wms.fail(pair.slow, pair.first)
    status = await wms.status(pair.task)
    assert (status.ready, status.failed, status.failed_attempts) == (1, 0, 1)
    (third,) = await wms.lease(pair.quick)
    assert third.attempt == 3
    await wms.fail(pair.quick, third)
    assert (await wms.status(pair.task)).failed == 1, "the second failure did not fail the job"


async def test_job_is_ready_again_after_both_attempts_are_lost(pair: AttemptPair) -> None:
    wms = pair.wms
    await wms.backdate_leases(pair.first, pair.second)
    await wms.expire_leases()
    status = await wms.status(pair.task)
    assert (status.ready, status.leased, status.running) == (1, 0, 0)
    assert [(number, outcome) for number, _, outcome in await pair.attempts()] == [
        (1, AttemptOutcome.LOST),
        (2, AttemptOutcome.LOST),
    ]
    (third,) = await wms.lease(pair.slow)
    assert third.attempt == 3


async def test_leftover_duplicate_does_not_keep_the_expiry_busy(pair: AttemptPair) -> None:
    """There should be no leftover, but the expiry must not loop because of it."""
    wms = pair.wms
    await wms.finish(pair.quick, pair.second)
    await wms.execute(
        """INSERT INTO duplicate_attempts (job_id, task_uid, attempt, pilot, leased_at, lease_until)
        VALUES ($1, $2, 3, $3, now(), now() - interval '1 hour')""",
        pair.first.id,
        pair.task.uid,
        pair.slow,
    )
    assert not await expire_leases(wms.context)
    assert (await wms.status(pair.task)).finished == 1


async def test_loss_of_an_attempt_leaves_the_job_to_the_other_attempt(pair: AttemptPair) -> None:
    wms = pair.wms
    await wms.backdate_leases(pair.first)
    await wms.send_heartbeat(pair.quick, running=[pair.second])
    await wms.expire_leases()
    assert (await wms.status(pair.task)).running == 1
    assert (await get_job(wms.context, pair.first.id)).state is JobState.RUNNING
    assert await wms.finish(pair.quick, pair.second) == [ReportAnswer.ACCEPTED]


async def test_returned_duplicate_leaves_the_job_to_the_other_attempt(pair: AttemptPair) -> None:
    token = JobToken(id=pair.second.id, attempt=pair.second.attempt)
    await sign_off_pilot(pair.wms.context, pair.quick, [token])
    assert (await pair.wms.status(pair.task)).running == 1
    assert await pair.wms.finish(pair.slow, pair.first) == [ReportAnswer.ACCEPTED]


async def test_cancellation_reaches_both_attempts(pair: AttemptPair) -> None:
    await cancel_task(pair.wms.context, pair.task.uid)
    for pilot, job in ((pair.slow, pair.first), (pair.quick, pair.second)):
        assert len(await pair.commands(pilot, job)) == 1
    assert [outcome for _, _, outcome in await pair.attempts()] == [AttemptOutcome.CANCELED] * 2


async def test_overdue_duplicate_is_stopped_alone(pair: AttemptPair) -> None:
    wms = pair.wms
    await pair.commands(pair.quick, pair.second)
    await wms.execute("UPDATE duplicate_attempts SET started_at = started_at - interval '9 days'")
    assert await pair.commands(pair.quick, pair.second) == [CANCEL]
    assert await pair.commands(pair.slow, pair.first) == []
    assert await wms.report(pair.quick, wms.make_report(pair.second, AttemptOutcome.CANCELED)) == [
        ReportAnswer.ACCEPTED
    ]
    assert (await wms.status(pair.task)).running == 1
    assert (2, pair.quick, AttemptOutcome.LOST) in await pair.attempts(), (
        "the stopped attempt does not count as lost"
    )


async def test_pilots_are_shown_with_both_attempts(pair: AttemptPair) -> None:
    detail = await get_pilot(pair.wms.context, pair.quick)
    assert [(job.job_id, job.attempt) for job in detail.jobs] == [(pair.second.id, 2)]
    pilots = {pilot.uid: pilot for pilot in (await list_pilots(pair.wms.context)).pilots}
    assert (pilots[pair.quick].leased, pilots[pair.slow].running) == (1, 1)


# --- Which jobs get a duplicate attempt, and on which pilot ---


async def test_timeline_shows_both_attempts(pair: AttemptPair) -> None:
    wms = pair.wms
    for pilot, job in ((pair.slow, pair.first), (pair.quick, pair.second)):
        await wms.send_heartbeat(pilot, running=[job])
    await wms.execute("UPDATE jobs SET started_at = started_at - interval '2 s'")
    await wms.execute("UPDATE duplicate_attempts SET started_at = started_at - interval '1 s'")
    await wms.execute("UPDATE tasks SET created_at = created_at - interval '3 s'")

    async def list_lanes() -> set[str]:
        wms.context = replace(wms.context, timelines=TtlCache())
        timeline = await get_timeline(wms.context, pair.task.chain_uid)
        return {lane.name for lane in timeline.lanes}

    assert await list_lanes() == {"slow", "quick"}
    done = wms.make_report(pair.second, ended_at=NOW + timedelta(seconds=1))
    await wms.report(pair.quick, done)
    assert await list_lanes() == {"slow", "quick"}, "the abandoned attempt is missing"


async def request_jobs(wms: WmsFixture, pilot: UUID, left: Amounts = PLENTY) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=1, free_capacity=FreeCapacity(free=left, soon=left))
    return (await lease_jobs(wms.context, pilot, request)).jobs


async def start_straggler(wms: WmsFixture, slow: UUID, **task: object) -> ClaimedJob:
    """Return a job that the slow pilot has been running for 250 s."""
    await wms.add_task(make_task(**task), jobs=1)
    (job,) = await request_jobs(wms, slow)
    await wms.send_heartbeat(slow, running=[job])
    await wms.backdate_start(job, seconds=250.0)
    return job


async def add_two_pilots(wms: WmsFixture) -> Sequence[UUID]:
    return [await wms.add_pilot(name=name) for name in ("slow", "quick")]


async def test_idle_pilot_gets_a_duplicate_of_a_straggler(wms: WmsFixture) -> None:
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 9.0 + n) for pilot in (slow, quick) for n in range(3)])
    job = await start_straggler(wms, slow)
    (second,) = await request_jobs(wms, quick)
    assert (second.id, second.attempt, second.inputs) == (job.id, 2, job.inputs)


@pytest.mark.parametrize(("slow_times", "quick_times"), [([], []), ([240.0] * 5, [200.0])])
async def test_job_without_known_run_times_or_close_to_its_end_gets_no_duplicate(
    wms: WmsFixture, slow_times: list[float], quick_times: list[float]
) -> None:
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(
        *((slow, seconds) for seconds in slow_times), *((quick, seconds) for seconds in quick_times)
    )
    await start_straggler(wms, slow)
    assert await request_jobs(wms, quick) == []


async def test_job_on_a_slow_pilot_gets_a_duplicate_before_it_is_late(wms: WmsFixture) -> None:
    slow, quick = await add_two_pilots(wms)
    await start_straggler(wms, slow)
    await wms.record_durations(*[(slow, 2000.0) for _ in range(3)], (quick, 20.0))
    assert len(await request_jobs(wms, quick)) == 1


@pytest.mark.parametrize("task", [{"speculate": False}, {"named": {"licence": 1.0}}])
async def test_job_without_speculation_or_with_named_resources_gets_no_duplicate(
    wms: WmsFixture, task: dict[str, object]
) -> None:
    slow = await wms.add_pilot(name="slow", named={"licence": 2.0})
    quick = await wms.add_pilot(name="quick", named={"licence": 2.0})
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow, **task)
    assert await request_jobs(wms, quick) == []


async def test_disabled_step_gets_no_duplicate(wms: WmsFixture) -> None:
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow)
    await prioritise_step(wms.context, RankStep(step="decode", priority=-1))
    assert await request_jobs(wms, quick) == []


async def test_job_with_enough_attempts_is_not_claimed_again(
    wms: WmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow, retry=1)
    (second,) = await request_jobs(wms, quick)
    await wms.fail(quick, second)
    third = await wms.add_pilot(name="third")

    async def claim(*_arguments: object, **_more: object) -> None:
        raise AssertionError("the task's row would be locked in vain")

    monkeypatch.setattr(start_duplicate_attempts, "claim_duplicate", claim)
    wms.context = replace(wms.context, stragglers=TtlCache())
    assert await request_jobs(wms, third) == []


async def test_reserved_pilot_gets_no_duplicate(wms: WmsFixture) -> None:
    """Duplicate attempts would make the big job wait forever."""
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow)
    big = await wms.add_task(make_task(resources=Resources(cores=8)), jobs=1)
    await wms.execute(
        "UPDATE tasks SET created_at = created_at - interval '1 minute' WHERE uid = $1", big.uid
    )
    assert await request_jobs(wms, quick, PLENTY.model_copy(update={"cores": 4})) == []
    [job] = await request_jobs(wms, quick)
    assert job.task_uid == big.uid


async def test_pilot_whose_jobs_fail_gets_no_duplicate(wms: WmsFixture) -> None:
    slow, bad = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, bad)], *[(bad, None)] * 4)
    await start_straggler(wms, slow)
    assert await request_jobs(wms, bad) == []
    assert len(await request_jobs(wms, await wms.add_pilot(name="new"))) == 1


async def test_pilot_that_is_too_small_gets_no_duplicate(wms: WmsFixture) -> None:
    slow = await wms.add_pilot(name="slow", cores=8)
    small = await wms.add_pilot(name="small", cores=0.5)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, small)])
    await start_straggler(wms, slow)
    assert await request_jobs(wms, small) == []


async def test_ready_jobs_go_before_duplicates(wms: WmsFixture) -> None:
    slow, quick = await add_two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    late = await start_straggler(wms, slow)
    task = await wms.add_task(make_task(), jobs=1)
    (job,) = await request_jobs(wms, quick)
    assert job.task_uid == task.uid
    assert (await get_job(wms.context, late.id)).attempt == 1


async def test_run_times_outlive_their_pilots_and_include_abandoned_attempts(
    pair: AttemptPair,
) -> None:
    wms = pair.wms
    await wms.record_durations((pair.slow, 5.0), (pair.quick, 5.0))
    await wms.backdate_start(pair.first, seconds=250.0)
    report = wms.make_report(pair.second)
    await wms.report(pair.quick, report)
    await learn_times(wms.context)
    again = await wms.add_pilot(name="slow")
    (step,) = (await get_pilot(wms.context, again)).known
    assert (step.template, step.step, step.jobs) == (*WORK, 1)
    assert step.seconds == pytest.approx((5.0 * 250.0) ** 0.5, rel=0.05)


async def test_abandoned_attempt_counts_as_run_time_but_not_as_success(pair: AttemptPair) -> None:
    """The attempt shows how slow the pilot is, but not that its jobs succeed."""
    wms = pair.wms
    await wms.record_durations(*[(pair.slow, None)] * 3, (pair.quick, 5.0))
    await wms.backdate_start(pair.first, seconds=250.0)
    await wms.finish(pair.quick, pair.second)
    await learn_times(wms.context)
    (step,) = (await get_pilot(wms.context, pair.slow)).known
    assert (step.jobs, step.failing) == (0, 1.0)
    assert step.seconds == pytest.approx(250.0, rel=0.05)
