"""Limits on named resources hold over all nodes and instances, and after every loss."""

import asyncio
from random import Random
from typing import Any
from uuid import UUID

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import AttemptOutcome, JobState, ReportAnswer
from sluice.contracts.jobs.limits import LimitPeriod, ResourceLimit, SetLimit
from sluice.contracts.jobs.resources import Amounts
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.pilots import pilots
from sluice.contracts.pilots.pilots import LeaseRequest
from tests.integration.wms.stage import Stage, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.leasing.explain import explain_task
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.limits.list_limits import list_limits
from wms.usecases.limits.set_limit import remove_limit, set_limit
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.check_schedulability import check_schedulability

PLENTY = Amounts(cores=64, ram=640_000)


async def add_licence_task(
    stage: Stage, jobs: int = 20, *, need: float = 1, **changes: Any
) -> Task:
    return await stage.add_task(make_task(named={"licence": need}, **changes), jobs=jobs)


async def ask(stage: Stage, pilot: UUID, jobs: int = 10, *, ahead: int = 0) -> list[ClaimedJob]:
    free_capacity = pilots.FreeCapacity(free=PLENTY, soon=PLENTY, ahead=ahead)
    return (
        await lease_jobs(stage.context, pilot, LeaseRequest(jobs=jobs, free_capacity=free_capacity))
    ).jobs


async def set_licence_limit(stage: Stage, amount: float, period: LimitPeriod | None = None) -> None:
    await set_limit(stage.context, SetLimit(name="licence", amount=amount, period=period))


async def get_licence_limit(stage: Stage) -> ResourceLimit:
    [limit] = (await list_limits(stage.context)).limits
    return limit


async def test_limit_holds_over_all_nodes_and_instances(stage: Stage, second: Stage) -> None:
    await set_licence_limit(stage, 4)
    await add_licence_task(stage)
    one, two = await stage.add_pilot(name="1"), await stage.add_pilot(name="2")
    three = await ask(stage, one, 3)
    assert len(three) == 3
    assert len(await ask(second, two)) == 1
    assert await ask(stage, one) == []
    assert (await get_licence_limit(stage)).used == 4
    await stage.finish(one, three[0])
    await stage.fail(one, three[1])
    assert (await get_licence_limit(stage)).used == 2
    assert len(await ask(second, two)) == 2


async def test_concurrent_leases_by_two_instances_do_not_exceed_the_limit(
    stage: Stage, second: Stage
) -> None:
    await set_licence_limit(stage, 5)
    await add_licence_task(stage, jobs=100)
    asking = [await stage.add_pilot(name=f"p{number}") for number in range(6)]
    leases = await asyncio.gather(
        *(ask((stage, second)[number % 2], pilot, 2) for number, pilot in enumerate(asking))
    )
    assert sum(map(len, leases)) == 5


async def test_resources_of_a_lost_pilot_are_free_when_its_leases_end(stage: Stage) -> None:
    await set_licence_limit(stage, 4)
    await add_licence_task(stage)
    dead, alive = await stage.add_pilot(name="dead"), await stage.add_pilot(name="alive")
    two, other = await ask(stage, dead, 2), await ask(stage, alive, 2)
    assert await ask(stage, alive) == []
    await stage.overdue(*two)
    await stage.expire()
    again = await ask(stage, alive)
    assert len(again) == 2
    await stage.finish(dead, *two)  # late, so it changes nothing
    await stage.finish(alive, *other, *again)
    assert (await get_licence_limit(stage)).used == 0


@pytest.mark.parametrize("end", ["cancel", "sign off"])
async def test_resources_of_canceled_or_returned_jobs_are_free(stage: Stage, end: str) -> None:
    await set_licence_limit(stage, 2)
    task = await add_licence_task(stage)
    pilot = await stage.add_pilot()
    jobs = await ask(stage, pilot)
    assert len(jobs) == 2
    if end == "cancel":
        await cancel_task(stage.context, task.uid)
    else:
        await sign_off_pilot(
            stage.context,
            pilot,
            [pilots.JobToken(id=job.id, attempt=job.attempt) for job in jobs],
        )
    assert (await get_licence_limit(stage)).used == 0


async def test_jobs_that_need_a_limited_resource_are_not_leased_ahead(stage: Stage) -> None:
    await set_licence_limit(stage, 100)
    await add_licence_task(stage)
    pilot = await stage.add_pilot()
    assert len(await ask(stage, pilot, 10, ahead=6)) == 4


async def test_limit_set_while_jobs_run_counts_the_running_jobs(stage: Stage) -> None:
    pilot = await stage.add_pilot(named={"licence": 9})
    await add_licence_task(stage)
    free_capacity = pilots.FreeCapacity(
        free=PLENTY.model_copy(update={"named": {"licence": 3}}), soon=PLENTY, ahead=0
    )
    leased_jobs = (
        await lease_jobs(stage.context, pilot, LeaseRequest(jobs=9, free_capacity=free_capacity))
    ).jobs
    assert len(leased_jobs) == 3
    other = await stage.add_pilot(name="offers none")
    assert await ask(stage, other) == []
    await set_licence_limit(stage, 4)
    assert len(await ask(stage, other)) == 1


async def test_lowered_limit_takes_no_jobs_away(stage: Stage) -> None:
    await set_licence_limit(stage, 4)
    await add_licence_task(stage)
    pilot = await stage.add_pilot()
    leased_jobs = await ask(stage, pilot)
    assert len(leased_jobs) == 4
    await set_licence_limit(stage, 2)
    assert (await get_licence_limit(stage)).used == 4
    await stage.finish(pilot, *leased_jobs[:2])
    assert await ask(stage, pilot) == [], "a job was leased above the lowered limit"
    await stage.finish(pilot, leased_jobs[2])
    assert len(await ask(stage, pilot)) == 1


async def test_quota_is_spent_by_leases_and_refilled_in_the_next_period(stage: Stage) -> None:
    await set_licence_limit(stage, 5, LimitPeriod.DAY)
    await add_licence_task(stage, jobs=30, need=2)
    pilot = await stage.add_pilot()
    jobs = await ask(stage, pilot)
    assert len(jobs) == 2
    await stage.fail(pilot, *jobs)
    assert await ask(stage, pilot) == [], "quota was returned without a report of its rest"
    limit = await get_licence_limit(stage)
    assert (limit.used, limit.period) == (4, LimitPeriod.DAY)
    assert limit.refills is not None
    assert (limit.refills.hour, limit.refills.minute) == (0, 0)
    await stage.execute("UPDATE limits SET begun = begun - interval '1 day'")
    assert (await get_licence_limit(stage)).used == 0
    assert len(await ask(stage, pilot)) == 2
    assert (await get_licence_limit(stage)).used == 4


async def test_rest_of_a_quota_is_returned_once_and_wakes_waiting_requests(
    stage: Stage, second: Stage
) -> None:
    await set_licence_limit(stage, 48, LimitPeriod.DAY)
    await add_licence_task(stage, jobs=10, need=24)
    pilot = await stage.add_pilot()
    one, two = await ask(stage, pilot)
    assert await ask(stage, pilot) == []
    version = stage.context.signal.version
    report = stage.report_of(one, spent={"licence": 11})
    assert await stage.report(pilot, report) == [ReportAnswer.ACCEPTED]
    assert (await get_licence_limit(stage)).used == 35
    assert stage.context.signal.version != version
    assert await second.report(pilot, report) == [ReportAnswer.ALREADY]
    await stage.report(pilot, stage.report_of(two, AttemptOutcome.FAILED, spent={"licence": 0.5}))
    assert (await get_licence_limit(stage)).used == 11.5
    assert len(await ask(second, pilot)) == 1


@pytest.mark.parametrize(
    ("spent", "used"),
    [({}, 24), ({"other": 0}, 24), ({"licence": 1000}, 24), ({"licence": 0, "other": 0}, 0)],
)
async def test_pilot_returns_no_more_quota_than_its_job_reserved(
    stage: Stage, spent: dict[str, float], used: float
) -> None:
    await set_licence_limit(stage, 48, LimitPeriod.DAY)
    await set_limit(stage.context, SetLimit(name="other", amount=9, period=LimitPeriod.DAY))
    await add_licence_task(stage, jobs=1, need=24)
    other = await stage.add_task(make_task(named={"other": 5}), jobs=1)
    pilot, liar = await stage.add_pilot(), await stage.add_pilot(name="liar")
    jobs = await ask(stage, liar)
    assert other.uid in {job.task_uid for job in jobs}
    [mine] = [job for job in jobs if job.task_uid != other.uid]
    assert await stage.report(pilot, stage.report_of(mine, spent={"licence": 0})) == [
        ReportAnswer.STALE
    ]
    report = stage.report_of(mine, spent=spent)
    await stage.report(liar, report, report)
    limits = (await list_limits(stage.context)).limits
    assert {each.name: each.used for each in limits} == {"licence": used, "other": 5}


@pytest.mark.parametrize("way", ["report", "sign off"])
async def test_quota_of_a_job_that_was_never_started_is_returned(stage: Stage, way: str) -> None:
    await set_licence_limit(stage, 5, LimitPeriod.DAY)
    await add_licence_task(stage, need=2)
    pilot = await stage.add_pilot()
    jobs = await ask(stage, pilot)
    if way == "report":
        returned = AttemptOutcome.RETURNED
        await stage.report(
            pilot, *(stage.report_of(job, returned, started_at=None, log=None) for job in jobs)
        )
    else:
        tokens = [pilots.JobToken(id=job.id, attempt=job.attempt) for job in jobs]
        await sign_off_pilot(stage.context, pilot, tokens)
    assert (await get_licence_limit(stage)).used == 0


@pytest.mark.parametrize("change", ["next day", "set again"])
async def test_quota_of_an_earlier_period_or_limit_is_not_returned(
    stage: Stage, change: str
) -> None:
    await set_licence_limit(stage, 5, LimitPeriod.DAY)
    await add_licence_task(stage, need=2)
    pilot = await stage.add_pilot()
    [early, _] = await ask(stage, pilot)
    if change == "next day":
        await stage.execute("UPDATE jobs SET leased_at = leased_at - interval '1 day'")
        await stage.execute("UPDATE limits SET spent = 0")
    else:
        await remove_limit(stage.context, "licence")
        await set_licence_limit(stage, 5, LimitPeriod.DAY)
    assert len(await ask(stage, pilot)) == 2
    await stage.report(pilot, stage.report_of(early, spent={"licence": 0}))
    assert (await get_licence_limit(stage)).used == 4


async def test_explanation_says_which_steps_hold_a_limited_resource(stage: Stage) -> None:
    await set_licence_limit(stage, 4)
    pilot = await stage.add_pilot()
    await add_licence_task(stage, jobs=1, need=1.5, step="scan")
    await add_licence_task(stage, jobs=2, step="convert")
    waiting = await add_licence_task(stage, step="more")
    assert len(await ask(stage, pilot, 3)) == 3
    explanation = (await explain_task(stage.context, waiting.uid)).text
    assert explanation.startswith(
        "Waiting for licence: 3.5 of 4 licence are held by 2 jobs of step convert and 1 job of step"
        " scan (20 ready"
    ), explanation
    await set_licence_limit(stage, 3, LimitPeriod.HOUR)
    await ask(stage, pilot)
    last = await add_licence_task(stage)
    explanation = (await explain_task(stage.context, last.uid)).text
    assert explanation.startswith(
        "Waiting for licence: 3 of 3 licence of this hour are spent, and more"
    )


async def test_need_above_the_limit_is_reported_as_unschedulable(stage: Stage) -> None:
    await stage.add_pilot()
    await stage.execute("UPDATE pilots SET registered_at = now() - interval '1 hour'")
    task = await add_licence_task(stage, need=5)
    await stage.execute("UPDATE tasks SET created_at = now() - interval '1 hour'")

    async def outlook() -> str:
        return (await check_schedulability(stage.context, task.uid)).reason

    assert "a job needs 5 licence, the node has none" in await outlook()
    await set_licence_limit(stage, 4)
    assert "a job needs 5 licence, the limit is 4 at a time" in await outlook()
    await set_licence_limit(stage, 5)
    assert await outlook() == ""
    await remove_limit(stage.context, "licence")
    assert "the node has none" in await outlook()
    with pytest.raises(NotFound):
        await remove_limit(stage.context, "licence")


async def test_job_with_a_large_need_gets_a_reservation_after_a_wait(stage: Stage) -> None:
    await set_licence_limit(stage, 4)
    small = await add_licence_task(stage, jobs=50)
    pilot, other = await stage.add_pilot(), await stage.add_pilot(name="other")
    leased_jobs = await ask(stage, pilot, 4)
    big = await add_licence_task(stage, jobs=1, need=4, rank=2.0)
    await stage.finish(pilot, leased_jobs[0])
    [job] = await ask(stage, other)
    assert job.task_uid == small.uid, "the reservation began too early"
    await stage.execute(
        "UPDATE tasks SET created_at = now() - interval '1 minute' WHERE uid = $1", big.uid
    )
    await stage.finish(other, job)
    assert await ask(stage, pilot) == []
    assert await ask(stage, other) == [], "the reservation does not hold on every node"
    await stage.finish(pilot, *leased_jobs[1:])
    [job] = await ask(stage, other)
    assert job.task_uid == big.uid
    await stage.finish(other, job)
    assert len(await ask(stage, pilot, 4)) == 4
    assert (await stage.states(big))[JobState.FINISHED] == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_usage_never_exceeds_the_limit_under_random_events(
    stage: Stage, second: Stage, seed: int
) -> None:
    """Requests at two instances, ends of every kind and dying pilots come at random."""
    random = Random(seed)
    tasks = [await add_licence_task(stage, 30, need=need) for need in (1, 0.5, 3)]
    both = (stage, second)
    asking = [await stage.add_pilot(name=f"p{number}") for number in range(4)]
    jobs: dict[UUID, list[ClaimedJob]] = {pilot: [] for pilot in asking}
    most = 6.0
    await set_licence_limit(stage, most)
    needs = {task.uid: task.needs.named["licence"] for task in tasks}

    async def one(pilot: UUID) -> None:
        jobs[pilot] += await ask(random.choice(both), pilot, random.randint(1, 5))

    async def drop_the_canceled() -> None:
        """Drop the jobs of ended tasks, as a final failure ends the task and cancels its jobs."""
        over = {task.uid for task in tasks if (await stage.status(task)).state.final}
        for pilot, own in jobs.items():
            jobs[pilot] = [job for job in own if job.task_uid not in over]

    for _ in range(25):
        await asyncio.gather(*(one(pilot) for pilot in random.sample(asking, 3)))
        limit = await get_licence_limit(random.choice(both))
        assert limit.used <= most
        assert limit.used == sum(needs[job.task_uid] for own in jobs.values() for job in own)
        pilot = random.choice(asking)
        ended, jobs[pilot] = jobs[pilot], []
        match random.choice(["finish", "fail", "lose", "give back"]):
            case "finish" if ended:
                await random.choice(both).finish(pilot, *ended)
            case "fail" if ended:
                await random.choice(both).fail(pilot, *ended)
            case "lose":
                await stage.overdue(*ended)
                await second.expire()
                if ended:
                    await stage.finish(pilot, *ended)  # late
            case "give back" if ended:
                await random.choice(both).report(
                    pilot, *(stage.report_of(job, AttemptOutcome.RETURNED) for job in ended)
                )
        await drop_the_canceled()
    for pilot, own in jobs.items():
        if own:
            await stage.finish(pilot, *own)
    assert (await get_licence_limit(stage)).used == 0
