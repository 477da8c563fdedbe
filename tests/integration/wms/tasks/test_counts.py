"""The WMS counts work, and lists lost pilots until a person acknowledges them."""

from datetime import timedelta
from uuid import uuid4

import pytest

from sluice.contracts.chains.attention import Acknowledge, WorkCounts
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.common.states import DeviceType, ErrorClass, PilotState, TaskState
from sluice.contracts.jobs.gpus import GpuNeeds
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.pilot_list import Pilot
from sluice.contracts.pilots.pilots import RegisterPilot
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.leasing.test_query_plans import plan, scans
from tests.integration.wms.stage import Stage, make_task
from wms.db.pilots.pilot_pages import PilotQuery
from wms.db.tasks.counts import COUNTS
from wms.usecases.pilots.acknowledge_pilot import acknowledge_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.tasks.read_tasks import count_work, read_troubled

ANN, BOB = Acknowledge(by="Ann"), Acknowledge(by="Bob")


async def lose(stage: Stage, *, days: int = 0) -> None:
    unseen = timedelta(days=days, hours=1)
    await stage.execute(
        "UPDATE pilots SET seen_at = now() - $1::interval WHERE state = $2",
        unseen,
        PilotState.ACTIVE,
    )
    await lose_pilots(stage.context)


async def listed(stage: Stage) -> list[Pilot]:
    return (await list_pilots(stage.context)).pilots


async def test_running_jobs_are_counted_by_busy_slots_without_jobs_leased_ahead(
    stage: Stage,
) -> None:
    """A pilot of four slots has seven jobs, and no heartbeat has named the running jobs yet."""
    pilot, other = await stage.add_pilot(), await stage.add_pilot(name="q")
    await stage.add_task(make_task(), jobs=20)
    assert await count_work(stage.context) == WorkCounts(
        running=0, waiting=20, quarantined=0, slots=8
    )
    jobs = await stage.lease(pilot, 7)
    assert await count_work(stage.context) == WorkCounts(
        running=4, waiting=16, quarantined=0, slots=8
    )
    await stage.beat(pilot, running=jobs[:1], waiting=jobs[1:])
    [job] = await stage.lease(other, 1)
    assert await count_work(stage.context) == WorkCounts(
        running=5, waiting=15, quarantined=0, slots=8
    )
    await stage.finish(pilot, *jobs)
    assert await count_work(stage.context) == WorkCounts(
        running=1, waiting=12, quarantined=0, slots=8
    )
    await lose(stage)
    assert await count_work(stage.context) == WorkCounts(
        running=0, waiting=13, quarantined=0, slots=0
    ), "jobs of lost pilots count as running"
    await stage.beat(other, running=[job])
    assert await count_work(stage.context) == WorkCounts(
        running=1, waiting=12, quarantined=0, slots=4
    )


async def busy(stage: Stage) -> dict[str, int | None]:
    pilots = (await list_pilots(stage.context, PilotQuery(limit=9))).pilots
    busy_slots = {pilot.name: pilot.busy for pilot in pilots}
    assert (
        sum(number or 0 for number in busy_slots.values())
        == (await count_work(stage.context)).running
    ), "the counts of pilots and of work differ"
    return busy_slots


@pytest.mark.parametrize(
    ("resources", "runs"),
    [
        (Resources(cores=2, ram=100), 4),
        (Resources(cores=3, ram=100), 2),
        (Resources(cores=0.1, ram=5_000), 3),
        (Resources(cores=0.1, ram=100), 4),
    ],
)
async def test_running_jobs_are_counted_by_their_cores_and_memory(
    stage: Stage, resources: Resources, runs: int
) -> None:
    """The node has 8 cores, 16 000 MiB and four slots."""
    pilot = await stage.add_pilot()
    await stage.add_task(make_task(resources=resources), jobs=9)
    jobs = await stage.lease(pilot, 7)
    assert await busy(stage) == {"p": runs}
    await stage.beat(pilot, running=jobs[:1], waiting=jobs[1:])
    assert await busy(stage) == {"p": runs}
    await stage.finish(pilot, *jobs[:6])
    assert await busy(stage) == {"p": 1}


async def test_running_gpu_jobs_are_counted_by_gpus(stage: Stage) -> None:
    pilot, other = await stage.add_pilot(gpus=["a", "b"]), await stage.add_pilot(name="q")
    await stage.add_task(make_task(device_type=DeviceType.GPU), jobs=3)
    await stage.lease(pilot, 3)
    await stage.add_task(make_task(), jobs=2)
    await stage.lease(other, 2)
    assert await busy(stage) == {"p": 2, "q": 2}


async def test_running_jobs_that_share_gpus_are_counted_by_shares(stage: Stage) -> None:
    pilot = await stage.add_pilot(gpus=["a"])
    task = make_task(device_type=DeviceType.GPU, gpu=GpuNeeds(share=0.4))
    await stage.add_task(task, jobs=4)
    await stage.lease(pilot, 4)
    assert await busy(stage) == {"p": 2}


async def test_started_jobs_count_as_running_before_earlier_leases(
    stage: Stage,
) -> None:
    pilot = await stage.add_pilot()
    await stage.add_task(make_task(resources=Resources(cores=6)), jobs=1)
    [big] = await stage.lease(pilot, 1)
    await stage.add_task(make_task(resources=Resources(cores=2)), jobs=4)
    small = await stage.lease(pilot, 4)
    assert await busy(stage) == {"p": 2}, "the jobs do not count in the order of their leases"
    await stage.beat(pilot, running=small[1:], waiting=[big, small[0]])
    assert await busy(stage) == {"p": 3}, "a job passed the big job, which does not fit"


async def test_counting_reads_only_jobs_that_pilots_have(stage: Stage) -> None:
    pilot = await stage.add_pilot()
    await stage.add_task(make_task(), jobs=5000)
    await stage.lease(pilot, 3)
    await stage.execute("ANALYZE")
    # The primary key finds the jobs of duplicate attempts.
    assert scans(await plan(stage, COUNTS, None)) == {"jobs_in_flight", "jobs_pkey"}


async def test_running_tasks_with_failed_jobs_are_troubled(stage: Stage) -> None:
    pilot = await stage.add_pilot()
    well, ill = [
        await stage.add_task(make_task(retry=1, boundary=Boundary(minimum=0.5)), jobs=4)
        for _ in range(2)
    ]
    jobs = await stage.lease(pilot, 8)
    await stage.finish(pilot, next(job for job in jobs if job.task_uid == well.uid))
    await stage.fail(
        pilot, next(job for job in jobs if job.task_uid == ill.uid), error=ErrorClass.TOOL_REFUSED
    )
    failed = next(job for job in jobs if job.task_uid == ill.uid)
    [troubled] = await read_troubled(stage.context, limit=10)
    assert troubled.uid == ill.uid
    assert troubled.reason.startswith(f"job {failed.id} (f")
    assert troubled.reason.endswith(
        f"): tool_refused: exit code 1 (`sluice logs {failed.id}` shows its log)"
    )
    assert (await count_work(stage.context, troubled=True)).troubled == 1


async def test_tasks_with_held_jobs_come_before_newer_tasks_with_failed_jobs(stage: Stage) -> None:
    quarantined, failed, well = [await stage.add_task(make_task(), jobs=4) for _ in range(3)]
    await stage.execute(
        "UPDATE tasks SET ready = 3, quarantined = 1 WHERE uid = $1", quarantined.uid
    )
    await stage.execute(
        "UPDATE tasks SET ready = 3, failed = 1, created_at = now() WHERE uid = $1", failed.uid
    )
    assert [task.uid for task in await read_troubled(stage.context, limit=1)] == [quarantined.uid]
    assert [task.uid for task in await read_troubled(stage.context, limit=9)] == [
        quarantined.uid,
        failed.uid,
    ]
    [other] = await read_troubled(stage.context, [failed.uid, well.uid], limit=9)
    assert other.uid == failed.uid
    assert await read_troubled(stage.context, state=TaskState.SPLITTING, limit=9) == []
    assert (await count_work(stage.context, troubled=True)).troubled == 2
    assert (await count_work(stage.context)).troubled is None, (
        "a client that did not ask got the field"
    )


async def test_lost_pilot_stays_acknowledged_until_it_is_lost_again(stage: Stage) -> None:
    pilot = await stage.add_pilot()
    with pytest.raises(Conflict, match="is not lost, it is active"):
        await acknowledge_pilot(stage.context, pilot, ANN)
    with pytest.raises(NotFound):
        await acknowledge_pilot(stage.context, uuid4(), ANN)
    await lose(stage)
    assert [(pilot.state, pilot.acknowledged) for pilot in await listed(stage)] == [
        (PilotState.LOST, None)
    ]
    for _ in range(2):
        await acknowledge_pilot(stage.context, pilot, ANN)
    with pytest.raises(Conflict, match=f"^Ann has seen it already, .*: pilot {pilot}$"):
        await acknowledge_pilot(stage.context, pilot, BOB)
    [lost_pilot] = await listed(stage)
    assert lost_pilot.acknowledged is not None
    assert lost_pilot.acknowledged.by == "Ann", "the first acknowledgement was replaced"
    await stage.beat(pilot)
    await lose(stage)
    assert [(pilot.state, pilot.acknowledged) for pilot in await listed(stage)] == [
        (PilotState.LOST, None)
    ]


async def test_lost_pilot_is_listed_until_it_is_acknowledged_or_started_again(
    stage: Stage,
) -> None:
    first, second, third = [await stage.add_pilot(name=name) for name in "abc"]
    await lose(stage, days=2)
    assert len(await listed(stage)) == 3, "a lost pilot without an acknowledgement is missing"
    await acknowledge_pilot(stage.context, first, ANN)
    again = next(pilot for pilot in await listed(stage) if pilot.uid == second)
    body = again.model_dump(include={"name", "host", "slots", "resources"}) | {
        "uid": uuid4(),
        "version": "1",
    }
    await register_pilot(stage.context, RegisterPilot(**body))
    assert [pilot.name for pilot in await listed(stage)] == ["b", "c"]
    assert third in {pilot.uid for pilot in await listed(stage)}
