"""Attempts end by the clock of the database, and not before they started."""

import pytest

from sluice.contracts.jobs.tasks import Cancel
from tests.integration.wms.stage import Stage, make_task
from wms.usecases.tasks.cancel_task import cancel_task

_LATER = "now() + interval '1 minute'"


@pytest.mark.parametrize("canceled", [False, True])
async def test_attempt_does_not_end_before_its_lease(stage: Stage, *, canceled: bool) -> None:
    """The transaction that ends the attempt began before the lease and waited for it."""
    task = await stage.add_task(make_task(retry=2), jobs=1)
    slow, quick = await stage.add_pilot(name="slow"), await stage.add_pilot(name="quick")
    (job,) = await stage.lease(slow)
    await stage.beat(slow, running=[job])
    assert await stage.begin_too(quick, job) is not None
    for table in ("jobs", "duplicate_attempts"):
        await stage.execute(f"UPDATE {table} SET leased_at = {_LATER}, started_at = {_LATER}")  # noqa: S608
    if canceled:
        await cancel_task(stage.context, task.uid, Cancel(reason="enough"))
    else:
        await stage.finish(slow, job)
    async with stage.database.connection() as connection:
        ended = await connection.fetch("SELECT attempt, ended_at >= started_at FROM attempts")
    assert sorted(map(tuple, ended)) == [(1, True), (2, True)]
