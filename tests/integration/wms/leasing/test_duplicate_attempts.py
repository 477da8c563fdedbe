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
from sluice.contracts.pilots.pilots import FreeCapacity, JobToken, LeaseRequest
from tests.integration.wms.wms_fixture import NOW, WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.db.pilots.pilot_times import WorkKind
from wms.usecases.leasing import start_duplicate_attempts
from wms.usecases.leasing.expire_leases import expire_leases
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.read_pilot import read_pilot
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.prioritise_step import prioritise_step
from wms.usecases.tasks.read_tasks import read_job
from wms.usecases.times.learn_times import learn_times
from wms.usecases.times.read_timeline import read_timeline
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000, named={"licence": 2.0})
ABANDON, CANCEL = "abandon", "cancel"


@dataclass(frozen=True)
class Race:
    """A task with a job that one pilot runs and another pilot attempts as a duplicate."""

    wms: WmsFixture
    task: Task
    slow: UUID
    quick: UUID
    first: ClaimedJob
    second: ClaimedJob

    async def attempts(self) -> list[tuple[int, UUID, AttemptOutcome | None]]:
        job = await read_job(self.wms.context, self.first.id)
        return [(one.attempt, UUID(one.pilot_uid), one.outcome) for one in job.attempts]

    async def commands(self, pilot: UUID, job: ClaimedJob) -> list[str]:
        answer = await self.wms.send_heartbeat(pilot, running=[job])
        return [command.kind for command in answer.commands]


@pytest.fixture
async def race(wms: WmsFixture) -> Race:
    task = await wms.add_task(make_task(retry=2), jobs=1)
    slow, quick = await wms.add_pilot(name="slow"), await wms.add_pilot(name="quick")
    (first,) = await wms.lease(slow)
    await wms.send_heartbeat(slow, running=[first])
    second = await wms.start_duplicate(quick, first)
    assert second is not None
    assert (second.id, second.attempt) == (first.id, 2)
    return Race(wms, task, slow, quick, first, second)


async def test_first_report_wins_and_the_other_attempt_is_abandoned(race: Race) -> None:
    wms = race.wms
    assert await race.commands(race.slow, race.first) == []
    assert await race.commands(race.quick, race.second) == []
    assert await wms.finish(race.quick, race.second) == [ReportAnswer.ACCEPTED]
    assert await race.attempts() == [
        (1, race.slow, AttemptOutcome.CANCELED),
        (2, race.quick, AttemptOutcome.FINISHED),
    ]
    assert await race.commands(race.slow, race.first) == [ABANDON]
    assert await wms.finish(race.slow, race.first) == [ReportAnswer.STALE]
    assert await wms.finish(race.quick, race.second) == [ReportAnswer.ALREADY]
    status = await wms.status(race.task)
    assert (status.finished, status.failed_attempts) == (1, 0)
    assert (await wms.sent_messages()).files[race.task.main_output.dat_out_uid] == [
        (0, output_name(0, 2, "events"))
    ]


async def test_first_attempt_may_win_against_the_duplicate(race: Race) -> None:
    assert await race.wms.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]
    assert await race.commands(race.quick, race.second) == [ABANDON]
    assert await race.wms.finish(race.quick, race.second) == [ReportAnswer.STALE]
    assert await race.attempts() == [
        (1, race.slow, AttemptOutcome.FINISHED),
        (2, race.quick, AttemptOutcome.CANCELED),
    ]


@pytest.mark.parametrize("number", [1, 2])
async def test_failure_does_not_count_while_the_other_attempt_runs(race: Race, number: int) -> None:
    wms = race.wms
    mine = [(race.slow, race.first), (race.quick, race.second)]
    (loser, lost), (other, goes_on) = mine if number == 1 else mine[::-1]
    assert await wms.fail(loser, lost, error=ErrorClass.TOOL_REFUSED) == [ReportAnswer.ACCEPTED]
    status = await wms.status(race.task)
    assert (status.running, status.failed, status.failed_attempts) == (1, 0, 0)
    assert await race.commands(other, goes_on) == []
    assert await wms.start_duplicate(loser, goes_on) is None, (
        "the duplicate went to the pilot on which the job failed"
    )
    assert await wms.finish(other, goes_on) == [ReportAnswer.ACCEPTED]
    assert {(attempt, outcome) for attempt, _, outcome in await race.attempts()} == {
        (lost.attempt, AttemptOutcome.FAILED),
        (goes_on.attempt, AttemptOutcome.FINISHED),
    }


async def test_job_has_at_most_two_attempts_at_a_time_and_two_duplicates(race: Race) -> None:
    wms = race.wms
    third, fourth = [await wms.add_pilot(name=name) for name in ("third", "fourth")]
    assert await wms.start_duplicate(third, race.first) is None
    await wms.fail(race.quick, race.second)
    again = await wms.start_duplicate(third, race.first)
    assert again is not None
    assert again.attempt == 3
    await wms.fail(third, again)
    assert await wms.start_duplicate(fourth, race.first) is None, "a third duplicate began"
    assert await wms.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]
    assert [number for number, *_ in await race.attempts()] == [1, 2, 3]


async def test_failure_of_both_attempts_counts_once_and_the_next_attempt_has_a_new_number(
    race: Race,
) -> None:
    wms = race.wms
    await wms.fail(race.quick, race.second)
    await wms.fail(race.slow, race.first)
    status = await wms.status(race.task)
    assert (status.ready, status.failed, status.failed_attempts) == (1, 0, 1)
    (third,) = await wms.lease(race.quick)
    assert third.attempt == 3
    await wms.fail(race.quick, third)
    assert (await wms.status(race.task)).failed == 1, "the second failure did not fail the job"


async def test_job_is_ready_again_after_both_attempts_are_lost(race: Race) -> None:
    wms = race.wms
    await wms.backdate_leases(race.first, race.second)
    await wms.expire_leases()
    status = await wms.status(race.task)
    assert (status.ready, status.leased, status.running) == (1, 0, 0)
    assert [(number, outcome) for number, _, outcome in await race.attempts()] == [
        (1, AttemptOutcome.LOST),
        (2, AttemptOutcome.LOST),
    ]
    (third,) = await wms.lease(race.slow)
    assert third.attempt == 3


async def test_leftover_duplicate_does_not_keep_the_expiry_busy(race: Race) -> None:
    """There should be no leftover, but the expiry must not loop because of it."""
    wms = race.wms
    await wms.finish(race.quick, race.second)
    await wms.execute(
        """INSERT INTO duplicate_attempts (job_id, task_uid, attempt, pilot, leased_at, lease_until)
        VALUES ($1, $2, 3, $3, now(), now() - interval '1 hour')""",
        race.first.id,
        race.task.uid,
        race.slow,
    )
    assert not await expire_leases(wms.context)
    assert (await wms.status(race.task)).finished == 1


async def test_loss_of_an_attempt_leaves_the_job_to_the_other_attempt(race: Race) -> None:
    wms = race.wms
    await wms.backdate_leases(race.first)
    await wms.send_heartbeat(race.quick, running=[race.second])
    await wms.expire_leases()
    assert (await wms.status(race.task)).running == 1
    assert (await read_job(wms.context, race.first.id)).state is JobState.RUNNING
    assert await wms.finish(race.quick, race.second) == [ReportAnswer.ACCEPTED]


async def test_returned_duplicate_leaves_the_job_to_the_other_attempt(race: Race) -> None:
    token = JobToken(id=race.second.id, attempt=race.second.attempt)
    await sign_off_pilot(race.wms.context, race.quick, [token])
    assert (await race.wms.status(race.task)).running == 1
    assert await race.wms.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]


async def test_cancellation_reaches_both_attempts(race: Race) -> None:
    await cancel_task(race.wms.context, race.task.uid)
    for pilot, job in ((race.slow, race.first), (race.quick, race.second)):
        assert len(await race.commands(pilot, job)) == 1
    assert [outcome for _, _, outcome in await race.attempts()] == [AttemptOutcome.CANCELED] * 2


async def test_overdue_duplicate_is_stopped_alone(race: Race) -> None:
    wms = race.wms
    await race.commands(race.quick, race.second)
    await wms.execute("UPDATE duplicate_attempts SET started_at = started_at - interval '9 days'")
    assert await race.commands(race.quick, race.second) == [CANCEL]
    assert await race.commands(race.slow, race.first) == []
    assert await wms.report(race.quick, wms.make_report(race.second, AttemptOutcome.CANCELED)) == [
        ReportAnswer.ACCEPTED
    ]
    assert (await wms.status(race.task)).running == 1
    assert (2, race.quick, AttemptOutcome.LOST) in await race.attempts(), (
        "the stopped attempt does not count as lost"
    )


async def test_pilots_are_shown_with_both_attempts(race: Race) -> None:
    detail = await read_pilot(race.wms.context, race.quick)
    assert [(job.job_id, job.attempt) for job in detail.jobs] == [(race.second.id, 2)]
    pilots = {pilot.uid: pilot for pilot in (await list_pilots(race.wms.context)).pilots}
    assert (pilots[race.quick].leased, pilots[race.slow].running) == (1, 1)


# --- Which jobs get a duplicate attempt, and on which pilot ---


async def test_timeline_shows_both_attempts(race: Race) -> None:
    wms = race.wms
    for pilot, job in ((race.slow, race.first), (race.quick, race.second)):
        await wms.send_heartbeat(pilot, running=[job])
    await wms.execute("UPDATE jobs SET started_at = started_at - interval '2 s'")
    await wms.execute("UPDATE duplicate_attempts SET started_at = started_at - interval '1 s'")
    await wms.execute("UPDATE tasks SET created_at = created_at - interval '3 s'")

    async def lanes() -> set[str]:
        wms.context = replace(wms.context, timelines=TtlCache())
        timeline = await read_timeline(wms.context, race.task.chain_uid)
        return {lane.name for lane in timeline.lanes}

    assert await lanes() == {"slow", "quick"}
    done = wms.make_report(race.second, ended_at=NOW + timedelta(seconds=1))
    await wms.report(race.quick, done)
    assert await lanes() == {"slow", "quick"}, "the abandoned attempt is missing"


async def lease(wms: WmsFixture, pilot: UUID, left: Amounts = PLENTY) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=1, free_capacity=FreeCapacity(free=left, soon=left))
    return (await lease_jobs(wms.context, pilot, request)).jobs


async def start_straggler(wms: WmsFixture, slow: UUID, **task: object) -> ClaimedJob:
    """Return a job that the slow pilot has been running for 250 s."""
    await wms.add_task(make_task(**task), jobs=1)
    (job,) = await lease(wms, slow)
    await wms.send_heartbeat(slow, running=[job])
    await wms.backdate_start(job, seconds=250.0)
    return job


async def two_pilots(wms: WmsFixture) -> Sequence[UUID]:
    return [await wms.add_pilot(name=name) for name in ("slow", "quick")]


async def test_idle_pilot_gets_a_duplicate_of_a_straggler(wms: WmsFixture) -> None:
    slow, quick = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 9.0 + n) for pilot in (slow, quick) for n in range(3)])
    job = await start_straggler(wms, slow)
    (second,) = await lease(wms, quick)
    assert (second.id, second.attempt, second.inputs) == (job.id, 2, job.inputs)


@pytest.mark.parametrize(("slow_times", "quick_times"), [([], []), ([240.0] * 5, [200.0])])
async def test_job_without_known_run_times_or_close_to_its_end_gets_no_duplicate(
    wms: WmsFixture, slow_times: list[float], quick_times: list[float]
) -> None:
    slow, quick = await two_pilots(wms)
    await wms.record_durations(
        *((slow, took) for took in slow_times), *((quick, took) for took in quick_times)
    )
    await start_straggler(wms, slow)
    assert await lease(wms, quick) == []


async def test_job_on_a_slow_pilot_gets_a_duplicate_before_it_is_late(wms: WmsFixture) -> None:
    slow, quick = await two_pilots(wms)
    await start_straggler(wms, slow)
    await wms.record_durations(*[(slow, 2000.0) for _ in range(3)], (quick, 20.0))
    assert len(await lease(wms, quick)) == 1


@pytest.mark.parametrize("task", [{"speculate": False}, {"named": {"licence": 1.0}}])
async def test_job_without_speculation_or_with_named_resources_gets_no_duplicate(
    wms: WmsFixture, task: dict[str, object]
) -> None:
    slow = await wms.add_pilot(name="slow", named={"licence": 2.0})
    quick = await wms.add_pilot(name="quick", named={"licence": 2.0})
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow, **task)
    assert await lease(wms, quick) == []


async def test_disabled_step_gets_no_duplicate(wms: WmsFixture) -> None:
    slow, quick = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow)
    await prioritise_step(wms.context, RankStep(step="decode", priority=-1))
    assert await lease(wms, quick) == []


async def test_job_with_enough_attempts_is_not_claimed_again(
    wms: WmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow, retry=1)
    (second,) = await lease(wms, quick)
    await wms.fail(quick, second)
    third = await wms.add_pilot(name="third")

    async def claim(*_arguments: object, **_more: object) -> None:
        raise AssertionError("the task's row would be locked in vain")

    monkeypatch.setattr(start_duplicate_attempts, "claim_duplicate", claim)
    wms.context = replace(wms.context, stragglers=TtlCache())
    assert await lease(wms, third) == []


async def test_reserved_pilot_gets_no_duplicate(wms: WmsFixture) -> None:
    """Duplicate attempts would make the big job wait forever."""
    slow, quick = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    await start_straggler(wms, slow)
    big = await wms.add_task(make_task(resources=Resources(cores=8)), jobs=1)
    await wms.execute(
        "UPDATE tasks SET created_at = created_at - interval '1 minute' WHERE uid = $1", big.uid
    )
    assert await lease(wms, quick, PLENTY.model_copy(update={"cores": 4})) == []
    [job] = await lease(wms, quick)
    assert job.task_uid == big.uid


async def test_pilot_whose_jobs_fail_gets_no_duplicate(wms: WmsFixture) -> None:
    slow, bad = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, bad)], *[(bad, None)] * 4)
    await start_straggler(wms, slow)
    assert await lease(wms, bad) == []
    assert len(await lease(wms, await wms.add_pilot(name="new"))) == 1


async def test_pilot_that_is_too_small_gets_no_duplicate(wms: WmsFixture) -> None:
    slow = await wms.add_pilot(name="slow", cores=8)
    small = await wms.add_pilot(name="small", cores=0.5)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, small)])
    await start_straggler(wms, slow)
    assert await lease(wms, small) == []


async def test_ready_jobs_go_before_duplicates(wms: WmsFixture) -> None:
    slow, quick = await two_pilots(wms)
    await wms.record_durations(*[(pilot, 10.0) for pilot in (slow, quick)])
    late = await start_straggler(wms, slow)
    task = await wms.add_task(make_task(), jobs=1)
    (job,) = await lease(wms, quick)
    assert job.task_uid == task.uid
    assert (await read_job(wms.context, late.id)).attempt == 1


async def test_run_times_outlive_their_pilots_and_include_abandoned_attempts(race: Race) -> None:
    wms = race.wms
    await wms.record_durations((race.slow, 5.0), (race.quick, 5.0))
    await wms.backdate_start(race.first, seconds=250.0)
    report = wms.make_report(race.second)
    await wms.report(race.quick, report)
    await learn_times(wms.context)
    again = await wms.add_pilot(name="slow")
    (step,) = (await read_pilot(wms.context, again)).known
    assert (step.template, step.step, step.jobs) == (*WORK, 1)
    assert step.seconds == pytest.approx((5.0 * 250.0) ** 0.5, rel=0.05)


async def test_abandoned_attempt_counts_as_run_time_but_not_as_success(race: Race) -> None:
    """The attempt shows how slow the pilot is, but not that its jobs succeed."""
    wms = race.wms
    await wms.record_durations(*[(race.slow, None)] * 3, (race.quick, 5.0))
    await wms.backdate_start(race.first, seconds=250.0)
    await wms.finish(race.quick, race.second)
    await learn_times(wms.context)
    (step,) = (await read_pilot(wms.context, race.slow)).known
    assert (step.jobs, step.failing) == (0, 1.0)
    assert step.seconds == pytest.approx(250.0, rel=0.05)
