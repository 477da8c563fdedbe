"""When attempts end, by the clock of the database, whatever waited for whom."""

import pytest

from sluice.contracts.tasks import Cancel
from tests.integration.wms.stage import Stage, make_task
from wms.usecases.cancel_task import cancel_task

_LATER = "now() + interval '1 minute'"


@pytest.mark.parametrize("canceled", [False, True])
async def test_none_ends_before_it_was_given_away(stage: Stage, *, canceled: bool) -> None:
    """What ends it has begun before, and waited for who gave it away."""
    task = await stage.add_task(make_task(retry=2), jobs=1)
    slow, quick = await stage.add_pilot(name="slow"), await stage.add_pilot(name="quick")
    (job,) = await stage.lease(slow)
    await stage.beat(slow, running=[job])
    assert await stage.begin_too(quick, job) is not None
    for table in ("jobs", "second_attempts"):
        await stage.execute(f"UPDATE {table} SET leased_at = {_LATER}, started_at = {_LATER}")  # noqa: S608
    if canceled:
        await cancel_task(stage.context, task.uid, Cancel(reason="enough"))
    else:
        await stage.finish(slow, job)
    async with stage.database.connection() as connection:
        ended = await connection.fetch("SELECT attempt, ended_at >= started_at FROM attempts")
    assert sorted(map(tuple, ended)) == [(1, True), (2, True)]
