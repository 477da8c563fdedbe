"""Two attempts at one job: who is given the second, which of them counts, and what becomes of the
other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import pytest

from sluice.contracts.naming import output_name
from sluice.contracts.needs import Resources
from sluice.contracts.pilots import JobToken, LeaseRequest, Room
from sluice.contracts.resources import Amounts
from sluice.contracts.states import AttemptOutcome, ErrorClass, JobState, ReportAnswer
from sluice.contracts.steps import RankStep
from sluice.contracts.tasks import Task
from tests.integration.wms.stage import NOW, Stage, make_task
from wms.db.leases import ClaimedJob
from wms.db.worker_times import WorkKind
from wms.usecases import start_duplicate_attempts
from wms.usecases.cancel_task import cancel_task
from wms.usecases.expire_leases import expire_leases
from wms.usecases.learn_times import learn_times
from wms.usecases.lease_jobs import lease_jobs
from wms.usecases.list_pilots import list_pilots
from wms.usecases.prioritise_step import prioritise_step
from wms.usecases.read_pilot import read_pilot
from wms.usecases.read_tasks import read_job
from wms.usecases.read_timeline import read_timeline
from wms.usecases.sign_off_pilot import sign_off_pilot
from wms.usecases.ttl_cache import TtlCache

WORK = WorkKind("t", "decode")
PLENTY = Amounts(cores=8, ram=16_000, disk=100_000, named={"licence": 2.0})
ABANDON, CANCEL = "abandon", "cancel"


@dataclass(frozen=True)
class Race:
    """A task with one job, which one pilot runs and another has begun too."""

    stage: Stage
    task: Task
    slow: UUID
    quick: UUID
    first: ClaimedJob
    second: ClaimedJob

    async def attempts(self) -> list[tuple[int, UUID, AttemptOutcome | None]]:
        job = await read_job(self.stage.context, self.first.id)
        return [(one.attempt, UUID(one.pilot_uid), one.outcome) for one in job.attempts]

    async def commands(self, pilot: UUID, job: ClaimedJob) -> list[str]:
        answer = await self.stage.beat(pilot, running=[job])
        return [command.kind for command in answer.commands]


@pytest.fixture
async def race(stage: Stage) -> Race:
    task = await stage.add_task(make_task(retry=2), jobs=1)
    slow, quick = await stage.add_pilot(name="slow"), await stage.add_pilot(name="quick")
    (first,) = await stage.lease(slow)
    await stage.beat(slow, running=[first])
    second = await stage.begin_too(quick, first)
    assert second is not None
    assert (second.id, second.attempt) == (first.id, 2)
    return Race(stage, task, slow, quick, first, second)


async def test_the_first_report_wins_and_the_other_attempt_is_given_up(race: Race) -> None:
    stage = race.stage
    assert await race.commands(race.slow, race.first) == []
    assert await race.commands(race.quick, race.second) == []
    assert await stage.finish(race.quick, race.second) == [ReportAnswer.ACCEPTED]
    assert await race.attempts() == [
        (1, race.slow, AttemptOutcome.CANCELED),
        (2, race.quick, AttemptOutcome.FINISHED),
    ]
    assert await race.commands(race.slow, race.first) == [ABANDON]
    assert await stage.finish(race.slow, race.first) == [ReportAnswer.STALE]
    assert await stage.finish(race.quick, race.second) == [ReportAnswer.ALREADY]
    status = await stage.status(race.task)
    assert (status.finished, status.failed_attempts) == (1, 0)
    assert (await stage.sent()).files[race.task.main_output.dat_out_uid] == [
        (0, output_name(0, 2, "events"))
    ]


async def test_the_first_attempt_may_win_as_well(race: Race) -> None:
    assert await race.stage.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]
    assert await race.commands(race.quick, race.second) == [ABANDON]
    assert await race.stage.finish(race.quick, race.second) == [ReportAnswer.STALE]
    assert await race.attempts() == [
        (1, race.slow, AttemptOutcome.FINISHED),
        (2, race.quick, AttemptOutcome.CANCELED),
    ]


@pytest.mark.parametrize("number", [1, 2])
async def test_a_failure_means_nothing_while_the_other_attempt_goes_on(
    race: Race, number: int
) -> None:
    stage = race.stage
    mine = [(race.slow, race.first), (race.quick, race.second)]
    (loser, lost), (other, goes_on) = mine if number == 1 else mine[::-1]
    assert await stage.fail(loser, lost, error=ErrorClass.TOOL_REFUSED) == [ReportAnswer.ACCEPTED]
    status = await stage.status(race.task)
    assert (status.running, status.failed, status.failed_attempts) == (1, 0, 0)
    assert await race.commands(other, goes_on) == []
    assert await stage.begin_too(loser, goes_on) is None, "not where it failed"
    assert await stage.finish(other, goes_on) == [ReportAnswer.ACCEPTED]
    assert {(attempt, outcome) for attempt, _, outcome in await race.attempts()} == {
        (lost.attempt, AttemptOutcome.FAILED),
        (goes_on.attempt, AttemptOutcome.FINISHED),
    }


async def test_there_are_never_three_and_only_some_in_a_row(race: Race) -> None:
    stage = race.stage
    third, fourth = [await stage.add_pilot(name=name) for name in ("third", "fourth")]
    assert await stage.begin_too(third, race.first) is None
    await stage.fail(race.quick, race.second)
    again = await stage.begin_too(third, race.first)
    assert again is not None
    assert again.attempt == 3
    await stage.fail(third, again)
    assert await stage.begin_too(fourth, race.first) is None, "two were tried"
    assert await stage.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]
    assert [number for number, *_ in await race.attempts()] == [1, 2, 3]


async def test_the_end_of_both_counts_once_and_the_next_has_a_number_of_its_own(
    race: Race,
) -> None:
    stage = race.stage
    await stage.fail(race.quick, race.second)
    await stage.fail(race.slow, race.first)
    status = await stage.status(race.task)
    assert (status.ready, status.failed, status.failed_attempts) == (1, 0, 1)
    (third,) = await stage.lease(race.quick)
    assert third.attempt == 3
    await stage.fail(race.quick, third)
    assert (await stage.status(race.task)).failed == 1, "the second failure that counts"


async def test_both_may_fall_silent(race: Race) -> None:
    stage = race.stage
    await stage.overdue(race.first, race.second)
    await stage.expire()
    status = await stage.status(race.task)
    assert (status.ready, status.leased, status.running) == (1, 0, 0)
    assert [(number, outcome) for number, _, outcome in await race.attempts()] == [
        (1, AttemptOutcome.LOST),
        (2, AttemptOutcome.LOST),
    ]
    (third,) = await stage.lease(race.slow)
    assert third.attempt == 3


async def test_one_that_is_left_over_keeps_no_expiry_busy(race: Race) -> None:
    """None should be: but whoever expires leases must not run in circles for it."""
    stage = race.stage
    await stage.finish(race.quick, race.second)
    await stage.execute(
        """INSERT INTO second_attempts (job_id, task_uid, attempt, pilot, leased_at, lease_until)
        VALUES ($1, $2, 3, $3, now(), now() - interval '1 hour')""",
        race.first.id,
        race.task.uid,
        race.slow,
    )
    assert not await expire_leases(stage.context)
    assert (await stage.status(race.task)).finished == 1


async def test_the_silence_of_one_leaves_the_job_to_the_other(race: Race) -> None:
    stage = race.stage
    await stage.overdue(race.first)
    await stage.beat(race.quick, running=[race.second])
    await stage.expire()
    assert (await stage.status(race.task)).running == 1
    assert (await read_job(stage.context, race.first.id)).state is JobState.RUNNING
    assert await stage.finish(race.quick, race.second) == [ReportAnswer.ACCEPTED]


async def test_one_that_is_handed_back_leaves_the_job_to_the_other(race: Race) -> None:
    token = JobToken(id=race.second.id, attempt=race.second.attempt)
    await sign_off_pilot(race.stage.context, race.quick, [token])
    assert (await race.stage.status(race.task)).running == 1
    assert await race.stage.finish(race.slow, race.first) == [ReportAnswer.ACCEPTED]


async def test_a_cancelation_reaches_both(race: Race) -> None:
    await cancel_task(race.stage.context, race.task.uid)
    for pilot, job in ((race.slow, race.first), (race.quick, race.second)):
        assert len(await race.commands(pilot, job)) == 1
    assert [outcome for _, _, outcome in await race.attempts()] == [AttemptOutcome.CANCELED] * 2


async def test_what_takes_too_long_is_stopped_alone(race: Race) -> None:
    stage = race.stage
    await race.commands(race.quick, race.second)
    await stage.execute("UPDATE second_attempts SET started_at = started_at - interval '9 days'")
    assert await race.commands(race.quick, race.second) == [CANCEL]
    assert await race.commands(race.slow, race.first) == []
    assert await stage.report(
        race.quick, stage.report_of(race.second, AttemptOutcome.CANCELED)
    ) == [ReportAnswer.ACCEPTED]
    assert (await stage.status(race.task)).running == 1
    assert (2, race.quick, AttemptOutcome.LOST) in await race.attempts(), "not of its own accord"


async def test_pilots_show_what_they_have(race: Race) -> None:
    detail = await read_pilot(race.stage.context, race.quick)
    assert [(job.job_id, job.attempt) for job in detail.jobs] == [(race.second.id, 2)]
    pilots = {pilot.uid: pilot for pilot in (await list_pilots(race.stage.context)).pilots}
    assert (pilots[race.quick].leased, pilots[race.slow].running) == (1, 1)


# --- who is given one ---


async def test_the_time_line_shows_both(race: Race) -> None:
    stage = race.stage
    for pilot, job in ((race.slow, race.first), (race.quick, race.second)):
        await stage.beat(pilot, running=[job])
    await stage.execute("UPDATE jobs SET started_at = started_at - interval '2 s'")
    await stage.execute("UPDATE second_attempts SET started_at = started_at - interval '1 s'")
    await stage.execute("UPDATE tasks SET created_at = created_at - interval '3 s'")

    async def lanes() -> set[str]:
        stage.context = replace(stage.context, timelines=TtlCache())
        found = await read_timeline(stage.context, race.task.chain_uid)
        return {lane.name for lane in found.lanes}

    assert await lanes() == {"slow", "quick"}
    done = stage.report_of(race.second, ended_at=NOW + timedelta(seconds=1))
    await stage.report(race.quick, done)
    assert await lanes() == {"slow", "quick"}, "what the one did that was given up"


async def lease(stage: Stage, pilot: UUID, left: Amounts = PLENTY) -> list[ClaimedJob]:
    request = LeaseRequest(jobs=1, room=Room(free=left, soon=left))
    return (await lease_jobs(stage.context, pilot, request)).jobs


async def begun(stage: Stage, slow: UUID, **task: object) -> ClaimedJob:
    """A job that the slow pilot has been running for 250 s."""
    await stage.add_task(make_task(**task), jobs=1)
    (job,) = await lease(stage, slow)
    await stage.beat(slow, running=[job])
    await stage.age(job, seconds=250.0)
    return job


async def two_pilots(stage: Stage) -> Sequence[UUID]:
    return [await stage.add_pilot(name=name) for name in ("slow", "quick")]


async def test_an_idle_pilot_gets_what_takes_unlikely_long(stage: Stage) -> None:
    slow, quick = await two_pilots(stage)
    await stage.learn(*[(pilot, 9.0 + n) for pilot in (slow, quick) for n in range(3)])
    job = await begun(stage, slow)
    (second,) = await lease(stage, quick)
    assert (second.id, second.attempt, second.inputs) == (job.id, 2, job.inputs)


@pytest.mark.parametrize(("slow_times", "quick_times"), [([], []), ([240.0] * 5, [200.0])])
async def test_nothing_is_begun_twice_that_is_done_soon_or_of_which_nothing_is_known(
    stage: Stage, slow_times: list[float], quick_times: list[float]
) -> None:
    slow, quick = await two_pilots(stage)
    await stage.learn(
        *((slow, took) for took in slow_times), *((quick, took) for took in quick_times)
    )
    await begun(stage, slow)
    assert await lease(stage, quick) == []


async def test_a_slow_worker_is_helped_before_it_is_late(stage: Stage) -> None:
    slow, quick = await two_pilots(stage)
    await begun(stage, slow)
    await stage.learn(*[(slow, 2000.0) for _ in range(3)], (quick, 20.0))
    assert len(await lease(stage, quick)) == 1


@pytest.mark.parametrize("task", [{"speculate": False}, {"named": {"licence": 1.0}}])
async def test_some_jobs_are_never_begun_twice(stage: Stage, task: dict[str, object]) -> None:
    slow = await stage.add_pilot(name="slow", named={"licence": 2.0})
    quick = await stage.add_pilot(name="quick", named={"licence": 2.0})
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, quick)])
    await begun(stage, slow, **task)
    assert await lease(stage, quick) == []


async def test_a_step_that_is_switched_off_gets_none(stage: Stage) -> None:
    slow, quick = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, quick)])
    await begun(stage, slow)
    await prioritise_step(stage.context, RankStep(step="decode", priority=-1))
    assert await lease(stage, quick) == []


async def test_a_pilot_of_the_release_before_gets_none(stage: Stage) -> None:
    """It would be told of needs that it does not know."""
    slow, former = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, former)])
    await begun(stage, slow)
    assert await stage.lease(former) == []
    assert len(await lease(stage, former)) == 1


async def test_a_job_that_was_tried_often_enough_is_not_looked_at_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, quick = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, quick)])
    await begun(stage, slow, retry=1)
    (second,) = await lease(stage, quick)
    await stage.fail(quick, second)
    third = await stage.add_pilot(name="third")

    async def claim(*_given: object, **_more: object) -> None:
        raise AssertionError("the task's row would be locked in vain")

    monkeypatch.setattr(start_duplicate_attempts, "claim_second", claim)
    stage.context = replace(stage.context, stragglers=TtlCache())
    assert await lease(stage, third) == []


async def test_a_pilot_that_is_kept_free_stays_free(stage: Stage) -> None:
    """Second attempts would have a big job wait for ever."""
    slow, quick = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, quick)])
    await begun(stage, slow)
    big = await stage.add_task(make_task(resources=Resources(cores=8)), jobs=1)
    await stage.execute(
        "UPDATE tasks SET created_at = created_at - interval '1 minute' WHERE uid = $1", big.uid
    )
    assert await lease(stage, quick, PLENTY.model_copy(update={"cores": 4})) == []
    [job] = await lease(stage, quick)
    assert job.task_uid == big.uid


async def test_a_pilot_where_jobs_fail_is_passed_over(stage: Stage) -> None:
    slow, bad = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, bad)], *[(bad, None)] * 4)
    await begun(stage, slow)
    assert await lease(stage, bad) == []
    assert len(await lease(stage, await stage.add_pilot(name="new"))) == 1


async def test_a_pilot_too_small_is_passed_over(stage: Stage) -> None:
    slow = await stage.add_pilot(name="slow", cores=8)
    small = await stage.add_pilot(name="small", cores=0.5)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, small)])
    await begun(stage, slow)
    assert await lease(stage, small) == []


async def test_jobs_that_wait_go_first(stage: Stage) -> None:
    slow, quick = await two_pilots(stage)
    await stage.learn(*[(pilot, 10.0) for pilot in (slow, quick)])
    late = await begun(stage, slow)
    task = await stage.add_task(make_task(), jobs=1)
    (job,) = await lease(stage, quick)
    assert job.task_uid == task.uid
    assert (await read_job(stage.context, late.id)).attempt == 1


async def test_what_is_known_of_workers_outlives_pilots_and_counts_losers(race: Race) -> None:
    stage = race.stage
    await stage.learn((race.slow, 5.0), (race.quick, 5.0))
    await stage.age(race.first, seconds=250.0)
    report = stage.report_of(race.second)
    await stage.report(race.quick, report)
    await learn_times(stage.context)
    again = await stage.add_pilot(name="slow")
    (known,) = (await read_pilot(stage.context, again)).known
    assert (known.template, known.step, known.jobs) == (*WORK, 1)
    assert known.seconds == pytest.approx((5.0 * 250.0) ** 0.5, rel=0.05)


async def test_what_others_ended_for_it_is_none_of_its_jobs(race: Race) -> None:
    """It is known how slow the worker is; not that it succeeds."""
    stage = race.stage
    await stage.learn(*[(race.slow, None)] * 3, (race.quick, 5.0))
    await stage.age(race.first, seconds=250.0)
    await stage.finish(race.quick, race.second)
    await learn_times(stage.context)
    (known,) = (await read_pilot(stage.context, race.slow)).known
    assert (known.jobs, known.failing) == (0, 1.0)
    assert known.seconds == pytest.approx(250.0, rel=0.05)
