"""Pilots that drain, sign off or are silent."""

from sluice.contracts.common.states import (
    PilotState,
    ReportAnswer,
)
from sluice.contracts.pilots.leases import JobToken
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.pilots.drain_pilot import drain_pilot
from wms.usecases.pilots.list_pilots import list_pilots
from wms.usecases.pilots.lose_pilots import lose_pilots
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot


async def test_sign_off_returns_jobs_at_once(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(retry=1), jobs=3)
    pilot, other = await wms.add_pilot(), await wms.add_pilot()
    first, retried_job, kept_job = await wms.lease(pilot, 3)
    returned = [JobToken(id=job.id, attempt=job.attempt) for job in (first, retried_job)]
    await sign_off_pilot(wms.context, pilot, [*returned, JobToken(id=kept_job.id, attempt=7)])
    await sign_off_pilot(wms.context, pilot, returned)
    status = await wms.status(task)
    assert (status.ready, status.leased, status.failed_attempts) == (2, 1, 0)
    assert {job.id for job in await wms.lease(other, 3)} == {first.id, retried_job.id}
    assert (await wms.request_lease(pilot)).drain
    assert await wms.finish(pilot, kept_job) == [ReportAnswer.ACCEPTED]


async def test_draining_pilot_gets_no_new_jobs(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=2)
    pilot = await wms.add_pilot()
    (job,) = await wms.lease(pilot)
    await drain_pilot(wms.context, pilot)
    answer = await wms.request_lease(pilot, wait=30.0)
    assert (answer.drain, answer.jobs) == (True, [])
    assert (await wms.send_heartbeat(pilot, running=[job])).drain
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(wms.context)
    assert [listed_pilot.state for listed_pilot in (await list_pilots(wms.context)).pilots] == [
        PilotState.LOST
    ]
    assert (await wms.send_heartbeat(pilot, running=[job])).drain
    (listed_pilot,) = (await list_pilots(wms.context)).pilots
    assert (listed_pilot.state, listed_pilot.running) == (PilotState.DRAINING, 1)


async def test_silent_pilot_is_lost_until_its_next_request(wms: WmsFixture) -> None:
    await wms.add_task(make_task(), jobs=1)
    pilot = await wms.add_pilot()
    await wms.execute("UPDATE pilots SET seen_at = now() - interval '1 day'")
    await lose_pilots(wms.context)
    assert len(await wms.lease(pilot)) == 1
    assert [listed_pilot.state for listed_pilot in (await list_pilots(wms.context)).pilots] == [
        PilotState.ACTIVE
    ]
