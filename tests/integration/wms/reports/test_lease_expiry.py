"""Jobs whose leases expire are quarantined, or go to another pilot."""

import asyncio

from sluice.contracts.common.states import (
    TaskState,
)
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from tests.waiting import eventually
from wms.db.tasks.tasks import lock_tasks
from wms.usecases.reports.retry_task import retry_task


async def test_five_lost_pilots_in_a_row_quarantine_the_job_without_failing_it(
    wms: WmsFixture,
) -> None:
    task = await wms.add_task(make_task(retry=1), jobs=1)
    pilot = await wms.add_pilot()
    for _ in range(5):
        (job,) = await wms.lease(pilot)
        await wms.backdate_leases(job)
        await wms.expire_leases()
    assert (await wms.status(task)).quarantined == 1
    assert (await wms.status(task)).state is TaskState.ACTIVE
    assert await wms.lease(pilot) == []
    assert (await retry_task(wms.context, task.uid)).ready == 1
    (retried_job,) = await wms.lease(pilot)
    assert retried_job.attempt == 6
    await wms.finish(pilot, retried_job)
    assert (await wms.status(task)).state is TaskState.FINISHED


async def test_failure_between_losses_restarts_the_count_of_losses(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=2), jobs=1)
    pilot = await wms.add_pilot()
    for number in range(9):
        (job,) = await wms.lease(pilot)
        if number == 4:
            await wms.fail(pilot, job)
        else:
            await wms.backdate_leases(job)
            await wms.expire_leases()
    assert (await wms.status(task)).ready == 1


async def test_renewed_lease_does_not_expire(wms: WmsFixture) -> None:
    """Invariant 6: the job is leased again only after its lease has ended."""
    task = await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    renewed_job, lost_job = await wms.lease(pilot, 2)
    await wms.backdate_leases(renewed_job, lost_job)
    answer = await wms.send_heartbeat(pilot, running=[renewed_job])
    assert answer.commands == []
    await wms.expire_leases()
    status = await wms.status(task)
    assert (status.running, status.ready) == (1, 1)
    answer = await wms.send_heartbeat(pilot, running=[renewed_job, lost_job])
    assert [(command.kind, command.job.id) for command in answer.commands] == [
        ("abandon", lost_job.id)
    ]


async def test_heartbeat_between_the_check_and_the_lock_saves_the_lease(
    wms: WmsFixture, other_wms: WmsFixture
) -> None:
    """Invariant 6: the end of the lease is checked again under the lock."""
    task = await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await wms.backdate_leases(job)
    async with other_wms.database.transaction() as transaction:
        await lock_tasks(transaction.connection, [task.uid])
        expiring = asyncio.create_task(wms.expire_leases())
        await eventually(wms.is_waiting_for_lock, what="it waits", seconds=10)
        await transaction.connection.execute(
            "UPDATE jobs SET lease_until = now() + interval '1 hour'"
        )
    await expiring
    assert (await wms.status(task)).leased == 1


async def test_lost_job_goes_to_another_pilot_and_its_first_pilot_abandons_it(
    wms: WmsFixture,
) -> None:
    await wms.add_task(make_task(), jobs=1)
    first, other = await wms.add_pilot(), await wms.add_pilot()
    (job,) = await wms.lease(first)
    await wms.backdate_leases(job)
    await wms.expire_leases()
    (retried_job,) = await wms.lease(other)
    answer = await wms.send_heartbeat(first, running=[job])
    assert [command.kind for command in answer.commands] == ["abandon"]
    assert (await wms.send_heartbeat(other, waiting=[retried_job])).commands == []


async def test_heartbeat_after_the_report_gets_no_command(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    job, _ = await wms.lease(pilot, 2)
    await wms.finish(pilot, job)
    assert (await wms.send_heartbeat(pilot, running=[job])).commands == []
