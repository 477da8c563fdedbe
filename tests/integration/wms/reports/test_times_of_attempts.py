"""Attempts end by the clock of the database, and not before they started."""

import pytest

from sluice.contracts.jobs.tasks import Cancel
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.usecases.tasks.cancel_task import cancel_task

_LATER = "now() + interval '1 minute'"


@pytest.mark.parametrize("canceled", [False, True])
async def test_attempt_does_not_end_before_its_lease(wms: WmsFixture, *, canceled: bool) -> None:
    """The transaction that ends the attempt began before the lease and waited for it."""
    task = await wms.add_task(make_task(retry=2), jobs=1)
    slow, quick = await wms.add_pilot(name="slow"), await wms.add_pilot(name="quick")
    (job,) = await wms.lease(slow)
    await wms.send_heartbeat(slow, running=[job])
    assert await wms.start_duplicate(quick, job) is not None
    for table in ("jobs", "duplicate_attempts"):
        await wms.execute(f"UPDATE {table} SET leased_at = {_LATER}, started_at = {_LATER}")  # noqa: S608
    if canceled:
        await cancel_task(wms.context, task.uid, Cancel(reason="enough"))
    else:
        await wms.finish(slow, job)
    async with wms.database.connection() as connection:
        ended = await connection.fetch("SELECT attempt, ended_at >= started_at FROM attempts")
    assert sorted(map(tuple, ended)) == [(1, True), (2, True)]
