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
from sluice.contracts.pilots.leases import FreeCapacity, JobToken, LeaseRequest
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.leasing.explain_task import explain_task
from wms.usecases.leasing.lease_jobs import lease_jobs
from wms.usecases.limits.list_limits import list_limits
from wms.usecases.limits.remove_limit import remove_limit
from wms.usecases.limits.set_limit import set_limit
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.cancel_task import cancel_task
from wms.usecases.tasks.check_schedulability import check_schedulability

PLENTY = Amounts(cores=64, ram=640_000)


async def add_licence_task(
    wms: WmsFixture, jobs: int = 20, *, need: float = 1, **changes: Any
) -> Task:
    return await wms.add_task(make_task(named={"licence": need}, **changes), jobs=jobs)


async def request_jobs(
    wms: WmsFixture, pilot: UUID, jobs: int = 10, *, ahead: int = 0
) -> list[ClaimedJob]:
    free_capacity = FreeCapacity(free=PLENTY, soon=PLENTY, ahead=ahead)
    return (
        await lease_jobs(wms.context, pilot, LeaseRequest(jobs=jobs, free_capacity=free_capacity))
    ).jobs


async def set_licence_limit(
    wms: WmsFixture, amount: float, period: LimitPeriod | None = None
) -> None:
    await set_limit(wms.context, SetLimit(name="licence", amount=amount, period=period))


async def get_licence_limit(wms: WmsFixture) -> ResourceLimit:
    [limit] = (await list_limits(wms.context)).limits
    return limit


async def test_limit_holds_over_all_nodes_and_instances(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    await set_licence_limit(wms, 4)
    await add_licence_task(wms)
    first_pilot, second_pilot = await wms.add_pilot(name="1"), await wms.add_pilot(name="2")
    leased_jobs = await request_jobs(wms, first_pilot, 3)
    assert len(leased_jobs) == 3
    assert len(await request_jobs(other_wms, second_pilot)) == 1
    assert await request_jobs(wms, first_pilot) == []
    assert (await get_licence_limit(wms)).used == 4
    await wms.finish(first_pilot, leased_jobs[0])
    await wms.fail(first_pilot, leased_jobs[1])
    assert (await get_licence_limit(wms)).used == 2
    assert len(await request_jobs(other_wms, second_pilot)) == 2


async def test_concurrent_leases_by_two_instances_do_not_exceed_the_limit(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    await set_licence_limit(wms, 5)
    await add_licence_task(wms, jobs=100)
    asking_pilots = [await wms.add_pilot(name=f"p{number}") for number in range(6)]
    leases = await asyncio.gather(
        *(
            request_jobs((wms, other_wms)[number % 2], pilot, 2)
            for number, pilot in enumerate(asking_pilots)
        )
    )
    assert sum(map(len, leases)) == 5


async def test_resources_of_a_lost_pilot_are_free_when_its_leases_end(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 4)
    await add_licence_task(wms)
    dead, alive = await wms.add_pilot(name="dead"), await wms.add_pilot(name="alive")
    expired_jobs, other = await request_jobs(wms, dead, 2), await request_jobs(wms, alive, 2)
    assert await request_jobs(wms, alive) == []
    await wms.backdate_leases(*expired_jobs)
    await wms.expire_leases()
    second_jobs = await request_jobs(wms, alive)
    assert len(second_jobs) == 2
    await wms.finish(dead, *expired_jobs)  # late, so it changes nothing
    await wms.finish(alive, *other, *second_jobs)
    assert (await get_licence_limit(wms)).used == 0


@pytest.mark.parametrize("end", ["cancel", "sign off"])
async def test_resources_of_canceled_or_returned_jobs_are_free(wms: WmsFixture, end: str) -> None:
    await set_licence_limit(wms, 2)
    task = await add_licence_task(wms)
    pilot = await wms.add_pilot()
    jobs = await request_jobs(wms, pilot)
    assert len(jobs) == 2
    if end == "cancel":
        await cancel_task(wms.context, task.uid)
    else:
        await sign_off_pilot(
            wms.context,
            pilot,
            [JobToken(id=job.id, attempt=job.attempt) for job in jobs],
        )
    assert (await get_licence_limit(wms)).used == 0


async def test_jobs_that_need_a_limited_resource_are_not_leased_ahead(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 100)
    await add_licence_task(wms)
    pilot = await wms.add_pilot()
    assert len(await request_jobs(wms, pilot, 10, ahead=6)) == 4


async def test_limit_set_while_jobs_run_counts_the_running_jobs(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot(named={"licence": 9})
    await add_licence_task(wms)
    free_capacity = FreeCapacity(
        free=PLENTY.model_copy(update={"named": {"licence": 3}}), soon=PLENTY, ahead=0
    )
    leased_jobs = (
        await lease_jobs(wms.context, pilot, LeaseRequest(jobs=9, free_capacity=free_capacity))
    ).jobs
    assert len(leased_jobs) == 3
    other = await wms.add_pilot(name="offers none")
    assert await request_jobs(wms, other) == []
    await set_licence_limit(wms, 4)
    assert len(await request_jobs(wms, other)) == 1


async def test_lowered_limit_takes_no_jobs_away(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 4)
    await add_licence_task(wms)
    pilot = await wms.add_pilot()
    leased_jobs = await request_jobs(wms, pilot)
    assert len(leased_jobs) == 4
    await set_licence_limit(wms, 2)
    assert (await get_licence_limit(wms)).used == 4
    await wms.finish(pilot, *leased_jobs[:2])
    assert await request_jobs(wms, pilot) == [], "a job was leased above the lowered limit"
    await wms.finish(pilot, leased_jobs[2])
    assert len(await request_jobs(wms, pilot)) == 1


async def test_quota_is_spent_by_leases_and_refilled_in_the_next_period(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 5, LimitPeriod.DAY)
    await add_licence_task(wms, jobs=30, need=2)
    pilot = await wms.add_pilot()
    jobs = await request_jobs(wms, pilot)
    assert len(jobs) == 2
    await wms.fail(pilot, *jobs)
    assert await request_jobs(wms, pilot) == [], "quota was returned without a report of its rest"
    limit = await get_licence_limit(wms)
    assert (limit.used, limit.period) == (4, LimitPeriod.DAY)
    assert limit.refills is not None
    assert (limit.refills.hour, limit.refills.minute) == (0, 0)
    await wms.execute("UPDATE limits SET begun = begun - interval '1 day'")
    assert (await get_licence_limit(wms)).used == 0
    assert len(await request_jobs(wms, pilot)) == 2
    assert (await get_licence_limit(wms)).used == 4


async def test_rest_of_a_quota_is_returned_once_and_wakes_waiting_requests(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    await set_licence_limit(wms, 48, LimitPeriod.DAY)
    await add_licence_task(wms, jobs=10, need=24)
    pilot = await wms.add_pilot()
    finished_job, failed_job = await request_jobs(wms, pilot)
    assert await request_jobs(wms, pilot) == []
    version = wms.context.signal.version
    report = wms.make_report(finished_job, spent={"licence": 11})
    assert await wms.report(pilot, report) == [ReportAnswer.ACCEPTED]
    assert (await get_licence_limit(wms)).used == 35
    assert wms.context.signal.version != version
    assert await other_wms.report(pilot, report) == [ReportAnswer.ALREADY]
    await wms.report(
        pilot, wms.make_report(failed_job, AttemptOutcome.FAILED, spent={"licence": 0.5})
    )
    assert (await get_licence_limit(wms)).used == 11.5
    assert len(await request_jobs(other_wms, pilot)) == 1


@pytest.mark.parametrize(
    ("spent", "used"),
    [({}, 24), ({"other": 0}, 24), ({"licence": 1000}, 24), ({"licence": 0, "other": 0}, 0)],
)
async def test_pilot_returns_no_more_quota_than_its_job_reserved(
    wms: WmsFixture, spent: dict[str, float], used: float
) -> None:
    await set_licence_limit(wms, 48, LimitPeriod.DAY)
    await set_limit(wms.context, SetLimit(name="other", amount=9, period=LimitPeriod.DAY))
    await add_licence_task(wms, jobs=1, need=24)
    other = await wms.add_task(make_task(named={"other": 5}), jobs=1)
    pilot, reporting_pilot = await wms.add_pilot(), await wms.add_pilot(name="liar")
    jobs = await request_jobs(wms, reporting_pilot)
    assert other.uid in {job.task_uid for job in jobs}
    [own_job] = [job for job in jobs if job.task_uid != other.uid]
    assert await wms.report(pilot, wms.make_report(own_job, spent={"licence": 0})) == [
        ReportAnswer.STALE
    ]
    report = wms.make_report(own_job, spent=spent)
    await wms.report(reporting_pilot, report, report)
    limits = (await list_limits(wms.context)).limits
    assert {each.name: each.used for each in limits} == {"licence": used, "other": 5}


@pytest.mark.parametrize("way", ["report", "sign off"])
async def test_quota_of_a_job_that_was_never_started_is_returned(wms: WmsFixture, way: str) -> None:
    await set_licence_limit(wms, 5, LimitPeriod.DAY)
    await add_licence_task(wms, need=2)
    pilot = await wms.add_pilot()
    jobs = await request_jobs(wms, pilot)
    if way == "report":
        returned = AttemptOutcome.RETURNED
        await wms.report(
            pilot, *(wms.make_report(job, returned, started_at=None, log=None) for job in jobs)
        )
    else:
        tokens = [JobToken(id=job.id, attempt=job.attempt) for job in jobs]
        await sign_off_pilot(wms.context, pilot, tokens)
    assert (await get_licence_limit(wms)).used == 0


@pytest.mark.parametrize("change", ["next day", "set again"])
async def test_quota_of_an_earlier_period_or_limit_is_not_returned(
    wms: WmsFixture, change: str
) -> None:
    await set_licence_limit(wms, 5, LimitPeriod.DAY)
    await add_licence_task(wms, need=2)
    pilot = await wms.add_pilot()
    [early, _] = await request_jobs(wms, pilot)
    if change == "next day":
        await wms.execute("UPDATE jobs SET leased_at = leased_at - interval '1 day'")
        await wms.execute("UPDATE limits SET spent = 0")
    else:
        await remove_limit(wms.context, "licence")
        await set_licence_limit(wms, 5, LimitPeriod.DAY)
    assert len(await request_jobs(wms, pilot)) == 2
    await wms.report(pilot, wms.make_report(early, spent={"licence": 0}))
    assert (await get_licence_limit(wms)).used == 4


async def test_explanation_says_which_steps_hold_a_limited_resource(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 4)
    pilot = await wms.add_pilot()
    await add_licence_task(wms, jobs=1, need=1.5, step="scan")
    await add_licence_task(wms, jobs=2, step="convert")
    waiting = await add_licence_task(wms, step="more")
    assert len(await request_jobs(wms, pilot, 3)) == 3
    explanation = (await explain_task(wms.context, waiting.uid)).text
    assert explanation.startswith(
        "Waiting for licence: 3.5 of 4 licence are in use by 2 jobs of step convert and 1 job of"
        " step scan (20 ready"
    ), explanation
    await set_licence_limit(wms, 3, LimitPeriod.HOUR)
    await request_jobs(wms, pilot)
    last = await add_licence_task(wms)
    explanation = (await explain_task(wms.context, last.uid)).text
    assert explanation.startswith(
        "Waiting for licence: 3 of 3 licence of this hour are used up, and more"
    )


async def test_need_above_the_limit_is_reported_as_unschedulable(wms: WmsFixture) -> None:
    await wms.add_pilot()
    await wms.execute("UPDATE pilots SET registered_at = now() - interval '1 hour'")
    task = await add_licence_task(wms, need=5)
    await wms.execute("UPDATE tasks SET created_at = now() - interval '1 hour'")

    async def read_outlook() -> str:
        return (await check_schedulability(wms.context, task.uid)).reason

    assert "a job needs 5 licence, the node has none" in await read_outlook()
    await set_licence_limit(wms, 4)
    assert "a job needs 5 licence, the limit is 4 at a time" in await read_outlook()
    await set_licence_limit(wms, 5)
    assert await read_outlook() == ""
    await remove_limit(wms.context, "licence")
    assert "the node has none" in await read_outlook()
    with pytest.raises(NotFound):
        await remove_limit(wms.context, "licence")


async def test_job_with_a_large_need_gets_a_reservation_after_a_wait(wms: WmsFixture) -> None:
    await set_licence_limit(wms, 4)
    small = await add_licence_task(wms, jobs=50)
    pilot, other = await wms.add_pilot(), await wms.add_pilot(name="other")
    leased_jobs = await request_jobs(wms, pilot, 4)
    big = await add_licence_task(wms, jobs=1, need=4, rank=2.0)
    await wms.finish(pilot, leased_jobs[0])
    [job] = await request_jobs(wms, other)
    assert job.task_uid == small.uid, "the reservation began too early"
    await wms.execute(
        "UPDATE tasks SET created_at = now() - interval '1 minute' WHERE uid = $1", big.uid
    )
    await wms.finish(other, job)
    assert await request_jobs(wms, pilot) == []
    assert await request_jobs(wms, other) == [], "the reservation does not hold on every node"
    await wms.finish(pilot, *leased_jobs[1:])
    [job] = await request_jobs(wms, other)
    assert job.task_uid == big.uid
    await wms.finish(other, job)
    assert len(await request_jobs(wms, pilot, 4)) == 4
    assert (await wms.states(big))[JobState.FINISHED] == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_usage_never_exceeds_the_limit_under_random_events(
    wms: WmsFixture, other_wms: WmsFixture, seed: int
) -> None:
    """Requests at two instances, ends of every kind and dying pilots come at random."""
    random = Random(seed)
    tasks = [await add_licence_task(wms, 30, need=need) for need in (1, 0.5, 3)]
    instances = (wms, other_wms)
    asking_pilots = [await wms.add_pilot(name=f"p{number}") for number in range(4)]
    jobs: dict[UUID, list[ClaimedJob]] = {pilot: [] for pilot in asking_pilots}
    most = 6.0
    await set_licence_limit(wms, most)
    needs = {task.uid: task.needs.named["licence"] for task in tasks}

    async def lease_random_jobs(pilot: UUID) -> None:
        jobs[pilot] += await request_jobs(random.choice(instances), pilot, random.randint(1, 5))

    async def drop_canceled_jobs() -> None:
        """Drop the jobs of ended tasks, as a final failure ends the task and cancels its jobs."""
        ended_tasks = {task.uid for task in tasks if (await wms.status(task)).state.final}
        for pilot, own in jobs.items():
            jobs[pilot] = [job for job in own if job.task_uid not in ended_tasks]

    for _ in range(25):
        await asyncio.gather(
            *(lease_random_jobs(pilot) for pilot in random.sample(asking_pilots, 3))
        )
        limit = await get_licence_limit(random.choice(instances))
        assert limit.used <= most
        assert limit.used == sum(needs[job.task_uid] for own in jobs.values() for job in own)
        pilot = random.choice(asking_pilots)
        ended, jobs[pilot] = jobs[pilot], []
        match random.choice(["finish", "fail", "lose", "give back"]):
            case "finish" if ended:
                await random.choice(instances).finish(pilot, *ended)
            case "fail" if ended:
                await random.choice(instances).fail(pilot, *ended)
            case "lose":
                await wms.backdate_leases(*ended)
                await other_wms.expire_leases()
                if ended:
                    await wms.finish(pilot, *ended)  # late
            case "give back" if ended:
                await random.choice(instances).report(
                    pilot, *(wms.make_report(job, AttemptOutcome.RETURNED) for job in ended)
                )
        await drop_canceled_jobs()
    for pilot, own in jobs.items():
        if own:
            await wms.finish(pilot, *own)
    assert (await get_licence_limit(wms)).used == 0
