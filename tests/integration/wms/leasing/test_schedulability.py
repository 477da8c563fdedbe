"""Tasks whose jobs fit no node are found from the pilots that the database knows."""

from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import PilotState, SandboxKind
from sluice.contracts.jobs.needs import Resources
from sluice.contracts.pilots.nodes import NodeResources
from tests.integration.wms.wms_fixture import WmsFixture, make_task
from wms.domain.scheduling.matching import PilotNode
from wms.usecases.context import WmsContext
from wms.usecases.pilots.sign_off_pilot import sign_off_pilot
from wms.usecases.tasks.check_schedulability import check_schedulability
from wms.usecases.tasks.list_unschedulable import list_unschedulable

OLD = "UPDATE pilots SET registered_at = registered_at - interval '1 minute'"


async def test_task_that_fits_no_pilot_is_unschedulable(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(resources=Resources(cores=4)), jobs=3)
    await wms.execute("UPDATE tasks SET created_at = created_at - interval '1 minute'")

    async def is_unschedulable() -> bool:
        return (await check_schedulability(wms.context, task.uid)).never

    assert not await is_unschedulable(), "the task is unschedulable before a pilot has registered"
    small = await wms.add_pilot(cores=2)
    assert not await is_unschedulable(), (
        "the task is unschedulable before another pilot could register"
    )
    await wms.execute(OLD)
    assert (await check_schedulability(wms.context, task.uid)).reason == (
        "no node fits: a job needs 4 cores, the node has 2 (this is the only pilot)"
    )
    large = await wms.add_pilot(cores=4)
    await wms.execute("UPDATE pilots SET state = $2 WHERE uid = $1", large, PilotState.DRAINING)
    await wms.execute(OLD)
    assert not await is_unschedulable(), "a draining pilot does not count"
    await wms.execute(
        "UPDATE pilots SET state = $2, seen_at = now() - interval '10 minutes' WHERE uid = $1",
        large,
        PilotState.LOST,
    )
    assert not await is_unschedulable(), "a recently lost pilot does not count"
    await wms.execute(
        "UPDATE pilots SET seen_at = now() - interval '2 hours' WHERE uid = $1", large
    )
    assert await is_unschedulable()
    at_once = replace(wms.context, rules=replace(wms.context.rules, fit_grace=0.0))
    await wms.execute("UPDATE pilots SET registered_at = now()")
    assert not await is_unschedulable()
    assert (await check_schedulability(at_once, task.uid)).never
    await sign_off_pilot(wms.context, small, [])
    assert not await is_unschedulable()
    with pytest.raises(NotFound):
        await check_schedulability(wms.context, uuid4())


async def test_tasks_that_fit_no_node_are_listed(wms: WmsFixture) -> None:
    tasks = [
        await wms.add_task(make_task(resources=Resources(cores=cores)), jobs=2)
        for cores in (1, 4, 8)
    ]

    async def listed(context: WmsContext, limit: int = 10) -> tuple[list[UUID], int]:
        unschedulable = await list_unschedulable(context, limit=limit)
        return [task.uid for task in unschedulable.tasks], unschedulable.number

    await wms.execute("UPDATE tasks SET created_at = created_at - interval '1 minute'")
    assert await listed(wms.context) == ([], 0), "a task is listed before a pilot has registered"
    await wms.add_pilot(cores=2)
    await wms.execute(OLD)
    assert await listed(wms.context) == ([tasks[1].uid, tasks[2].uid], 2)
    assert await listed(wms.context, 1) == ([tasks[1].uid], 2)
    await wms.add_pilot(cores=4)
    await wms.execute(OLD)
    [task] = (await list_unschedulable(wms.context, limit=10)).tasks
    assert (task.chain_uid, task.step, task.ready) == (tasks[2].chain_uid, "decode", 2)
    assert task.reason.startswith("no node fits: a job needs 8 cores")
    large = PilotNode(NodeResources(cores=8, ram=4096, disk=1_000_000))
    assert await listed(replace(wms.context, launchable=[large])) == ([], 0)


async def test_task_that_needs_a_missing_sandbox_is_unschedulable(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(sandbox=True), jobs=1)
    await wms.execute("UPDATE tasks SET created_at = created_at - interval '1 minute'")
    await wms.add_pilot()
    await wms.execute(OLD)
    assert (await check_schedulability(wms.context, task.uid)).reason == (
        "no node fits: a job needs a sandbox (bubblewrap), and the only pilot has none"
    )
    await wms.add_pilot(sandbox=SandboxKind.NAMESPACES)
    await wms.execute(OLD)
    assert not (await check_schedulability(wms.context, task.uid)).never


async def test_task_with_leased_jobs_is_schedulable(wms: WmsFixture) -> None:
    task = await wms.add_task(make_task(), jobs=1)
    await wms.lease(await wms.add_pilot())
    assert not (await check_schedulability(wms.context, task.uid)).never
