"""Limits on resources that are counted over all nodes: exact, whichever instance is asked and
whatever dies."""

import asyncio
from random import Random
from typing import Any
from uuid import UUID

import pytest

from sluice.contracts import pilots
from sluice.contracts.limits import LimitPeriod, ResourceLimit, SetLimit
from sluice.contracts.pilots import LeaseRequest
from sluice.contracts.problems import NotFound
from sluice.contracts.resources import Amounts
from sluice.contracts.states import AttemptOutcome, JobState, ReportAnswer
from sluice.contracts.tasks import Task
from tests.integration.wms.stage import Stage, make_task
from wms.db.leases import ClaimedJob
from wms.usecases.cancel_task import cancel_task
from wms.usecases.check_schedulability import check_schedulability
from wms.usecases.explain import explain_task
from wms.usecases.lease_jobs import lease_jobs
from wms.usecases.list_limits import list_limits
from wms.usecases.set_limit import remove_limit, set_limit
from wms.usecases.sign_off_pilot import sign_off_pilot

PLENTY = Amounts(cores=64, ram=640_000)


async def task_of(stage: Stage, jobs: int = 20, *, need: float = 1, **changes: Any) -> Task:
    return await stage.add_task(make_task(named={"licence": need}, **changes), jobs=jobs)


async def ask(stage: Stage, pilot: UUID, jobs: int = 10, *, ahead: int = 0) -> list[ClaimedJob]:
    room = pilots.Room(free=PLENTY, soon=PLENTY, ahead=ahead)
    return (await lease_jobs(stage.context, pilot, LeaseRequest(jobs=jobs, room=room))).jobs


async def limit(stage: Stage, amount: float, period: LimitPeriod | None = None) -> None:
    await set_limit(stage.context, SetLimit(name="licence", amount=amount, period=period))


async def now(stage: Stage) -> ResourceLimit:
    [found] = (await list_limits(stage.context)).limits
    return found


async def test_so_many_at_a_time_over_all_nodes_and_instances(stage: Stage, second: Stage) -> None:
    await limit(stage, 4)
    await task_of(stage)
    one, two = await stage.add_pilot(name="1"), await stage.add_pilot(name="2")
    three = await ask(stage, one, 3)
    assert len(three) == 3
    assert len(await ask(second, two)) == 1
    assert await ask(stage, one) == []
    assert (await now(stage)).used == 4
    await stage.finish(one, three[0])
    await stage.fail(one, three[1])
    assert (await now(stage)).used == 2
    assert len(await ask(second, two)) == 2


async def test_both_instances_at_once_do_not_give_more(stage: Stage, second: Stage) -> None:
    await limit(stage, 5)
    await task_of(stage, jobs=100)
    asking = [await stage.add_pilot(name=f"p{number}") for number in range(6)]
    given = await asyncio.gather(
        *(ask((stage, second)[number % 2], pilot, 2) for number, pilot in enumerate(asking))
    )
    assert sum(map(len, given)) == 5


async def test_what_a_pilot_held_that_was_lost_is_free_with_its_leases(stage: Stage) -> None:
    await limit(stage, 4)
    await task_of(stage)
    dead, alive = await stage.add_pilot(name="dead"), await stage.add_pilot(name="alive")
    two, other = await ask(stage, dead, 2), await ask(stage, alive, 2)
    assert await ask(stage, alive) == []
    await stage.overdue(*two)
    await stage.expire()
    again = await ask(stage, alive)
    assert len(again) == 2
    await stage.finish(dead, *two)  # late: it changes nothing
    await stage.finish(alive, *other, *again)
    assert (await now(stage)).used == 0


@pytest.mark.parametrize("end", ["cancel", "sign off"])
async def test_what_is_canceled_or_given_back_is_held_no_more(stage: Stage, end: str) -> None:
    await limit(stage, 2)
    task = await task_of(stage)
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
    assert (await now(stage)).used == 0


async def test_jobs_that_need_what_is_limited_are_never_given_ahead(stage: Stage) -> None:
    await limit(stage, 100)
    await task_of(stage)
    pilot = await stage.add_pilot()
    assert len(await ask(stage, pilot, 10, ahead=6)) == 4


async def test_a_limit_that_is_set_while_jobs_run_counts_them(stage: Stage) -> None:
    pilot = await stage.add_pilot(named={"licence": 9})
    await task_of(stage)
    room = pilots.Room(
        free=PLENTY.model_copy(update={"named": {"licence": 3}}), soon=PLENTY, ahead=0
    )
    held = (await lease_jobs(stage.context, pilot, LeaseRequest(jobs=9, room=room))).jobs
    assert len(held) == 3
    other = await stage.add_pilot(name="offers none")
    assert await ask(stage, other) == []
    await limit(stage, 4)
    assert len(await ask(stage, other)) == 1


async def test_a_limit_lowered_below_what_is_held_takes_nothing_away(stage: Stage) -> None:
    await limit(stage, 4)
    await task_of(stage)
    pilot = await stage.add_pilot()
    held = await ask(stage, pilot)
    assert len(held) == 4
    await limit(stage, 2)
    assert (await now(stage)).used == 4
    await stage.finish(pilot, *held[:2])
    assert await ask(stage, pilot) == [], "two are still held"
    await stage.finish(pilot, held[2])
    assert len(await ask(stage, pilot)) == 1


async def test_a_quota_is_spent_when_jobs_are_given_and_full_again_in_time(stage: Stage) -> None:
    await limit(stage, 5, LimitPeriod.DAY)
    await task_of(stage, jobs=30, need=2)
    pilot = await stage.add_pilot()
    jobs = await ask(stage, pilot)
    assert len(jobs) == 2
    await stage.fail(pilot, *jobs)
    assert await ask(stage, pilot) == [], "no tool said that some is left"
    told = await now(stage)
    assert (told.used, told.period) == (4, LimitPeriod.DAY)
    assert told.refills is not None
    assert (told.refills.hour, told.refills.minute) == (0, 0)
    await stage.execute("UPDATE limits SET begun = begun - interval '1 day'")
    assert (await now(stage)).used == 0
    assert len(await ask(stage, pilot)) == 2
    assert (await now(stage)).used == 4


async def test_rest_of_a_quota_is_given_back_once_and_wakes_who_waits(
    stage: Stage, second: Stage
) -> None:
    await limit(stage, 48, LimitPeriod.DAY)
    await task_of(stage, jobs=10, need=24)
    pilot = await stage.add_pilot()
    one, two = await ask(stage, pilot)
    assert await ask(stage, pilot) == []
    version = stage.context.signal.version
    report = stage.report_of(one, spent={"licence": 11})
    assert await stage.report(pilot, report) == [ReportAnswer.ACCEPTED]
    assert (await now(stage)).used == 35
    assert stage.context.signal.version != version
    assert await second.report(pilot, report) == [ReportAnswer.ALREADY]
    await stage.report(pilot, stage.report_of(two, AttemptOutcome.FAILED, spent={"licence": 0.5}))
    assert (await now(stage)).used == 11.5
    assert len(await ask(second, pilot)) == 1


@pytest.mark.parametrize(
    ("spent", "used"),
    [({}, 24), ({"other": 0}, 24), ({"licence": 1000}, 24), ({"licence": 0, "other": 0}, 0)],
)
async def test_no_pilot_gives_back_more_than_its_job_reserved(
    stage: Stage, spent: dict[str, float], used: float
) -> None:
    await limit(stage, 48, LimitPeriod.DAY)
    await set_limit(stage.context, SetLimit(name="other", amount=9, period=LimitPeriod.DAY))
    await task_of(stage, jobs=1, need=24)
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
async def test_quota_of_a_job_that_was_never_begun_is_given_back(stage: Stage, way: str) -> None:
    await limit(stage, 5, LimitPeriod.DAY)
    await task_of(stage, need=2)
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
    assert (await now(stage)).used == 0


@pytest.mark.parametrize("change", ["next day", "set again"])
async def test_what_another_quota_paid_is_not_given_back(stage: Stage, change: str) -> None:
    await limit(stage, 5, LimitPeriod.DAY)
    await task_of(stage, need=2)
    pilot = await stage.add_pilot()
    [early, _] = await ask(stage, pilot)
    if change == "next day":
        await stage.execute("UPDATE jobs SET leased_at = leased_at - interval '1 day'")
        await stage.execute("UPDATE limits SET spent = 0")
    else:
        await remove_limit(stage.context, "licence")
        await limit(stage, 5, LimitPeriod.DAY)
    assert len(await ask(stage, pilot)) == 2
    await stage.report(pilot, stage.report_of(early, spent={"licence": 0}))
    assert (await now(stage)).used == 4


async def test_why_it_waits_says_who_holds_how_much(stage: Stage) -> None:
    await limit(stage, 4)
    pilot = await stage.add_pilot()
    await task_of(stage, jobs=1, need=1.5, step="scan")
    await task_of(stage, jobs=2, step="convert")
    waiting = await task_of(stage, step="more")
    assert len(await ask(stage, pilot, 3)) == 3
    said = (await explain_task(stage.context, waiting.uid)).text
    assert said.startswith(
        "Waiting for licence: 3.5 of 4 licence are held by 2 jobs of step convert and 1 job of step"
        " scan (20 ready"
    ), said
    await limit(stage, 3, LimitPeriod.HOUR)
    await ask(stage, pilot)
    last = await task_of(stage)
    said = (await explain_task(stage.context, last.uid)).text
    assert said.startswith("Waiting for licence: 3 of 3 licence of this hour are spent, and more")


async def test_a_need_that_can_never_be_met_is_told_so(stage: Stage) -> None:
    await stage.add_pilot()
    await stage.execute("UPDATE pilots SET registered_at = now() - interval '1 hour'")
    task = await task_of(stage, need=5)
    await stage.execute("UPDATE tasks SET created_at = now() - interval '1 hour'")

    async def outlook() -> str:
        return (await check_schedulability(stage.context, task.uid)).reason

    assert "a job needs 5 licence, the node has none" in await outlook()
    await limit(stage, 4)
    assert "a job needs 5 licence, the limit is 4 at a time" in await outlook()
    await limit(stage, 5)
    assert await outlook() == ""
    await remove_limit(stage.context, "licence")
    assert "the node has none" in await outlook()
    with pytest.raises(NotFound):
        await remove_limit(stage.context, "licence")


async def test_a_job_that_needs_much_is_not_passed_over_for_ever(stage: Stage) -> None:
    await limit(stage, 4)
    small = await task_of(stage, jobs=50)
    pilot, other = await stage.add_pilot(), await stage.add_pilot(name="other")
    held = await ask(stage, pilot, 4)
    big = await task_of(stage, jobs=1, need=4, rank=2.0)
    await stage.finish(pilot, held[0])
    [job] = await ask(stage, other)
    assert job.task_uid == small.uid, "it has not waited long yet"
    await stage.execute(
        "UPDATE tasks SET created_at = now() - interval '1 minute' WHERE uid = $1", big.uid
    )
    await stage.finish(other, job)
    assert await ask(stage, pilot) == []
    assert await ask(stage, other) == [], "it is kept on every node"
    await stage.finish(pilot, *held[1:])
    [job] = await ask(stage, other)
    assert job.task_uid == big.uid
    await stage.finish(other, job)
    assert len(await ask(stage, pilot, 4)) == 4
    assert (await stage.states(big))[JobState.FINISHED] == 1


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_whatever_two_instances_do_no_more_is_held_than_there_is(
    stage: Stage, second: Stage, seed: int
) -> None:
    """Drawn: requests at both at once, ends of every kind, pilots that die, limits that change."""
    random = Random(seed)
    tasks = [await task_of(stage, 30, need=need) for need in (1, 0.5, 3)]
    both = (stage, second)
    asking = [await stage.add_pilot(name=f"p{number}") for number in range(4)]
    jobs: dict[UUID, list[ClaimedJob]] = {pilot: [] for pilot in asking}
    most = 6.0
    await limit(stage, most)
    needs = {task.uid: task.needs.named["licence"] for task in tasks}

    async def one(pilot: UUID) -> None:
        jobs[pilot] += await ask(random.choice(both), pilot, random.randint(1, 5))

    async def drop_the_canceled() -> None:
        """A task ends with the failure of a job that may not be tried again, and what runs of it
        with the task."""
        over = {task.uid for task in tasks if (await stage.status(task)).state.final}
        for pilot, own in jobs.items():
            jobs[pilot] = [job for job in own if job.task_uid not in over]

    for _ in range(25):
        await asyncio.gather(*(one(pilot) for pilot in random.sample(asking, 3)))
        found = await now(random.choice(both))
        assert found.used <= most
        assert found.used == sum(needs[job.task_uid] for own in jobs.values() for job in own)
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
    assert (await now(stage)).used == 0
