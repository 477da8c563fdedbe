"""Two tasks of warm workers with measured times."""

from datetime import UTC, datetime

from sluice.contracts.jobs.needs import Warm
from sluice.contracts.jobs.tasks import Task
from sluice.contracts.jobs.warm_workers import WarmWorkerState
from sluice.contracts.pilots.heartbeats import Heartbeat
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.db.pilots.pilot_times import WorkKind
from wms.usecases.leasing.renew_leases import renew_leases
from wms.usecases.reports.attempt_end_buffer import AttemptEnd
from wms.usecases.times.learn_times import learn_times

SINCE = datetime(2026, 1, 1, tzinfo=UTC)


async def add_two_stages(wms: WmsFixture, *, layout: int, read: int) -> tuple[Task, Task]:
    """Add two tasks of a chain, of which layout takes 2 s and reading 10 s."""
    first = make_task(step="layout", warm=Warm(kind="layout"))
    second = make_task(step="read", warm=Warm(kind="read"), depth=1)
    await wms.add_task(first, jobs=layout)
    await wms.add_task(second, jobs=read)
    pilot = await wms.add_pilot(name="warm")
    times = [("layout", 2.0), ("read", 10.0)]
    wms.context.ends.add(AttemptEnd(WorkKind("t", step), pilot, took) for step, took in times)
    await learn_times(wms.context)
    tools = [
        WarmWorkerState(kind=kind, step=kind, since=SINCE, loading=5.0)
        for kind in ("layout", "read")
    ]
    await renew_leases(wms.context, pilot, Heartbeat(loaded=tools))
    return first, second
