"""Waiting requests learn of jobs from other instances, and ranks rise."""

import asyncio
from dataclasses import replace
from uuid import UUID

from sluice.servicekit.running.lifecycle import running
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.consumers.ready_listener import ReadyListener
from wms.db.jobs.leases import ClaimedJob
from wms.usecases.context import WmsContext
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.update_ranks import update_ranks
from wms.usecases.work_signal import WorkSignal


async def test_instance_is_notified_of_jobs_made_ready_by_another_instance(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """The notification comes by LISTEN. The instance itself looks only once an hour."""
    patient_context = WmsContext(
        other_wms.database, rules=replace(wms.context.rules, poll_period=3600.0)
    )
    unnotified_wms = WmsFixture(patient_context, tasks=wms.tasks)
    await wms.add_task(make_task(), jobs=1)
    holder, waiter = await wms.add_pilot(), await wms.add_pilot()
    (job,) = await wms.lease(holder)
    async with running(ReadyListener(wms.database.url, patient_context.signal)):
        await patient_context.signal.wait(0, seconds=10.0)  # it listens now
        lease = asyncio.create_task(unnotified_wms.lease(waiter, wait=60.0))
        async with asyncio.timeout(20):  # its request would look again after 60 s
            while await _is_waiting(lease):
                await wms.backdate_leases(job)
                await wms.expire_leases()
            assert [again.id for again in await lease] == [job.id]


async def _request_with_long_wait(
    wms: WmsFixture,
) -> tuple[WmsFixture, UUID, "asyncio.Task[list[ClaimedJob]]"]:
    """Let a pilot ask an instance that itself looks for jobs only once an hour."""
    waiter = WmsFixture(
        WmsContext(wms.database, rules=replace(wms.context.rules, poll_period=3600.0)),
        tasks=wms.tasks,
    )
    pilot = await wms.add_pilot()
    return waiter, pilot, asyncio.create_task(waiter.lease(pilot, wait=60.0))


async def _is_waiting(task: "asyncio.Task[object]") -> bool:
    done, _ = await asyncio.wait([task], timeout=0.05)
    return not done


async def test_signal_given_before_the_wait_is_not_missed() -> None:
    signal = WorkSignal()
    version = signal.version
    signal.ready()
    async with asyncio.timeout(5):
        await signal.wait(version, seconds=3600.0)
    signal.ready_in(0.01)
    async with asyncio.timeout(5):
        await signal.wait(signal.version, seconds=3600.0)
    assert signal.version == version + 2, "the second wait returned before its signal"


async def test_waiting_requests_end_when_the_process_stops(wms: WmsFixture) -> None:
    waiter, pilot, lease = await _request_with_long_wait(wms)
    async with asyncio.timeout(20):
        while await _is_waiting(lease):
            waiter.context.signal.close()
        assert await lease == []
        assert await waiter.lease(pilot, wait=60.0) == [], "a later request waited"


async def test_waiting_request_ends_when_its_pilot_signs_off(wms: WmsFixture) -> None:
    waiter, pilot, lease = await _request_with_long_wait(wms)
    async with asyncio.timeout(20):
        while await _is_waiting(lease):
            await sign_off_pilot(waiter.context, pilot, [])
        assert await lease == []


async def test_rank_of_a_waiting_task_rises_once_for_all_instances(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    task = await wms.add_task(make_task(rank=2), jobs=1)
    await wms.execute(
        "UPDATE tasks SET created_at = now() - interval '1 hour', ranked_at = now() - interval '1"
        " hour'"
    )
    update_counts = await asyncio.gather(
        *(update_ranks(at.context, period=30.0) for at in (wms, other_wms) for _ in range(3))
    )
    assert sum(update_counts) == 1
    assert abs((await wms.status(task)).rank - 2.6) < 0.01
