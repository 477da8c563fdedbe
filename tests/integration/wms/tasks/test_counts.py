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
from sluice.contracts.pilots.registration import RegisterPilot
from sluice.contracts.templates.plan import Boundary
from tests.integration.wms.query_plans import explain_query, list_job_scans
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.pilots.pilot_pages import PilotQuery
from wms.db.tasks.counts import COUNTS
from wms.usecases.pilots.acknowledge_pilot import acknowledge_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.register_pilot import register_pilot
from wms.usecases.tasks.count_work import count_work
from wms.usecases.tasks.list_troubled_tasks import list_troubled_tasks

ANN, BOB = Acknowledge(by="Ann"), Acknowledge(by="Bob")


async def expire_pilots(wms: WmsFixture, *, days: int = 0) -> None:
    unseen = timedelta(days=days, hours=1)
    await wms.execute(
        "UPDATE pilots SET seen_at = now() - $1::interval WHERE state = $2",
        unseen,
        PilotState.ACTIVE,
    )
    await lose_pilots(wms.context)


async def list_attention(wms: WmsFixture) -> list[Pilot]:
    return (await list_pilots(wms.context)).pilots


async def test_running_jobs_are_counted_by_busy_slots_without_jobs_leased_ahead(
    wms: WmsFixture,
) -> None:
    """A pilot of four slots has seven jobs, and no heartbeat has named the running jobs yet."""
    pilot, other = await wms.add_pilot(), await wms.add_pilot(name="q")
    await wms.add_task(make_task(), jobs=20)
    assert await count_work(wms.context) == WorkCounts(
        running=0, waiting=20, quarantined=0, slots=8
    )
    jobs = await wms.lease(pilot, 7)
    assert await count_work(wms.context) == WorkCounts(
        running=4, waiting=16, quarantined=0, slots=8
    )
    await wms.send_heartbeat(pilot, running=jobs[:1], waiting=jobs[1:])
    [job] = await wms.lease(other, 1)
    assert await count_work(wms.context) == WorkCounts(
        running=5, waiting=15, quarantined=0, slots=8
    )
    await wms.finish(pilot, *jobs)
    assert await count_work(wms.context) == WorkCounts(
        running=1, waiting=12, quarantined=0, slots=8
    )
    await expire_pilots(wms)
    assert await count_work(wms.context) == WorkCounts(
        running=0, waiting=13, quarantined=0, slots=0
    ), "jobs of lost pilots count as running"
    await wms.send_heartbeat(other, running=[job])
    assert await count_work(wms.context) == WorkCounts(
        running=1, waiting=12, quarantined=0, slots=4
    )


async def count_busy_slots(wms: WmsFixture) -> dict[str, int | None]:
    pilots = (await list_pilots(wms.context, PilotQuery(limit=9))).pilots
    busy_slots = {pilot.name: pilot.busy for pilot in pilots}
    assert (
        sum(number or 0 for number in busy_slots.values())
        == (await count_work(wms.context)).running
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
    wms: WmsFixture, resources: Resources, runs: int
) -> None:
    """The node has 8 cores, 16 000 MiB and four slots."""
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(resources=resources), jobs=9)
    jobs = await wms.lease(pilot, 7)
    assert await count_busy_slots(wms) == {"p": runs}
    await wms.send_heartbeat(pilot, running=jobs[:1], waiting=jobs[1:])
    assert await count_busy_slots(wms) == {"p": runs}
    await wms.finish(pilot, *jobs[:6])
    assert await count_busy_slots(wms) == {"p": 1}


async def test_running_gpu_jobs_are_counted_by_gpus(wms: WmsFixture) -> None:
    pilot, other = await wms.add_pilot(gpus=["a", "b"]), await wms.add_pilot(name="q")
    await wms.add_task(make_task(device_type=DeviceType.GPU), jobs=3)
    await wms.lease(pilot, 3)
    await wms.add_task(make_task(), jobs=2)
    await wms.lease(other, 2)
    assert await count_busy_slots(wms) == {"p": 2, "q": 2}


async def test_running_jobs_that_share_gpus_are_counted_by_shares(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot(gpus=["a"])
    task = make_task(device_type=DeviceType.GPU, gpu=GpuNeeds(share=0.4))
    await wms.add_task(task, jobs=4)
    await wms.lease(pilot, 4)
    assert await count_busy_slots(wms) == {"p": 2}


async def test_started_jobs_count_as_running_before_earlier_leases(
    wms: WmsFixture,
) -> None:
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(resources=Resources(cores=6)), jobs=1)
    [big] = await wms.lease(pilot, 1)
    await wms.add_task(make_task(resources=Resources(cores=2)), jobs=4)
    small = await wms.lease(pilot, 4)
    assert await count_busy_slots(wms) == {"p": 2}, (
        "the jobs do not count in the order of their leases"
    )
    await wms.send_heartbeat(pilot, running=small[1:], waiting=[big, small[0]])
    assert await count_busy_slots(wms) == {"p": 3}, "a job passed the big job, which does not fit"


async def test_counting_reads_only_jobs_that_pilots_have(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    await wms.add_task(make_task(), jobs=5000)
    await wms.lease(pilot, 3)
    await wms.execute("ANALYZE")
    # The primary key finds the jobs of duplicate attempts.
    assert list_job_scans(await explain_query(wms, COUNTS, None)) == {"jobs_in_flight", "jobs_pkey"}


async def test_running_tasks_with_failed_jobs_are_troubled(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    healthy_task, troubled_task = [
        await wms.add_task(make_task(retry=1, boundary=Boundary(minimum=0.5)), jobs=4)
        for _ in range(2)
    ]
    jobs = await wms.lease(pilot, 8)
    await wms.finish(pilot, next(job for job in jobs if job.task_uid == healthy_task.uid))
    await wms.fail(
        pilot,
        next(job for job in jobs if job.task_uid == troubled_task.uid),
        error=ErrorClass.TOOL_REFUSED,
    )
    failed = next(job for job in jobs if job.task_uid == troubled_task.uid)
    [troubled] = await list_troubled_tasks(wms.context, limit=10)
    assert troubled.uid == troubled_task.uid
    assert troubled.reason.startswith(f"job {failed.id} (f")
    assert troubled.reason.endswith(
        f"): tool_refused: exit code 1 (`sluice logs {failed.id}` shows its log)"
    )
    assert (await count_work(wms.context, troubled=True)).troubled == 1


async def test_tasks_with_held_jobs_come_before_newer_tasks_with_failed_jobs(
    wms: WmsFixture,
) -> None:
    quarantined, failed, healthy_task = [await wms.add_task(make_task(), jobs=4) for _ in range(3)]
    await wms.execute("UPDATE tasks SET ready = 3, quarantined = 1 WHERE uid = $1", quarantined.uid)
    await wms.execute(
        "UPDATE tasks SET ready = 3, failed = 1, created_at = now() WHERE uid = $1", failed.uid
    )
    assert [task.uid for task in await list_troubled_tasks(wms.context, limit=1)] == [
        quarantined.uid
    ]
    assert [task.uid for task in await list_troubled_tasks(wms.context, limit=9)] == [
        quarantined.uid,
        failed.uid,
    ]
    [other] = await list_troubled_tasks(wms.context, [failed.uid, healthy_task.uid], limit=9)
    assert other.uid == failed.uid
    assert await list_troubled_tasks(wms.context, state=TaskState.SPLITTING, limit=9) == []
    assert (await count_work(wms.context, troubled=True)).troubled == 2
    assert (await count_work(wms.context)).troubled is None, (
        "a client that did not ask got the field"
    )


async def test_lost_pilot_stays_acknowledged_until_it_is_lost_again(wms: WmsFixture) -> None:
    pilot = await wms.add_pilot()
    with pytest.raises(Conflict, match="is not lost, it is active"):
        await acknowledge_pilot(wms.context, pilot, ANN)
    with pytest.raises(NotFound):
        await acknowledge_pilot(wms.context, uuid4(), ANN)
    await expire_pilots(wms)
    assert [(pilot.state, pilot.acknowledged) for pilot in await list_attention(wms)] == [
        (PilotState.LOST, None)
    ]
    for _ in range(2):
        await acknowledge_pilot(wms.context, pilot, ANN)
    with pytest.raises(Conflict, match=f"^Ann already acknowledged it, .*: pilot {pilot}$"):
        await acknowledge_pilot(wms.context, pilot, BOB)
    [lost_pilot] = await list_attention(wms)
    assert lost_pilot.acknowledged is not None
    assert lost_pilot.acknowledged.by == "Ann", "the first acknowledgement was replaced"
    await wms.send_heartbeat(pilot)
    await expire_pilots(wms)
    assert [(pilot.state, pilot.acknowledged) for pilot in await list_attention(wms)] == [
        (PilotState.LOST, None)
    ]


async def test_lost_pilot_is_listed_until_it_is_acknowledged_or_started_again(
    wms: WmsFixture,
) -> None:
    first, second, third = [await wms.add_pilot(name=name) for name in "abc"]
    await expire_pilots(wms, days=2)
    assert len(await list_attention(wms)) == 3, "a lost pilot without an acknowledgement is missing"
    await acknowledge_pilot(wms.context, first, ANN)
    listed_again = next(pilot for pilot in await list_attention(wms) if pilot.uid == second)
    body = listed_again.model_dump(include={"name", "host", "slots", "resources"}) | {
        "uid": uuid4(),
        "version": "1",
    }
    await register_pilot(wms.context, RegisterPilot(**body))
    assert [pilot.name for pilot in await list_attention(wms)] == ["b", "c"]
    assert third in {pilot.uid for pilot in await list_attention(wms)}
