"""Tasks that free space on a filling input storage are ranked higher, with the real DMS."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest

from dms.usecases.storages.watch_water_marks import watch_water_marks
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.datasets import WaterMarks
from sluice.contracts.jobs.tasks import Boosts
from sluice.contracts.templates.plan import Retention
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.transport.open import open_transport
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import DELETE_ALL, three_steps
from tests.waiting import eventually
from wfms.chains.settings import ChainsSettings
from wfms.chains.usecases.context import ReliefState
from wfms.chains.usecases.relieve_storages import relieve_storages
from wfms.chains.wiring import build

KEEPS = Retention(input="keep")


async def running(world: World, name: str, *, retention: Retention = DELETE_ALL) -> Chain:
    """Start a chain with an input of three bytes; its first tasks are at the WMS."""
    template = world.template(three_steps(retention=retention), name=f"{name}-wf")
    chain = await world.new_chain(await world.input(name), template)
    await world.start_steps()
    await world.deliver()
    return chain


def relief(world: World) -> Callable[[], Awaitable[None]]:
    context = replace(world.chains_context, relief_rank=7.0, relief=ReliefState())
    return partial(relieve_storages, context)


def raised(world: World, boosts: Boosts) -> list[str]:
    return sorted(
        world.wms.tasks[boost.task_uid].step + " " + world.wms.tasks[boost.task_uid].template
        for boost in boosts.boosts
    )


async def test_tasks_are_ranked_higher_while_the_storage_of_their_input_fills(world: World) -> None:
    await world.dms.mark_storage("input-1", WaterMarks(low=4, high=9))
    first = await running(world, "a")
    await running(world, "kept", retention=KEEPS)
    relieve = relief(world)
    await relieve()
    assert [boost.boosts for boost in world.wms.boosts] == [[]], (
        "ranks raised by an earlier instance are lowered"
    )
    await relieve()
    assert len(world.wms.boosts) == 1, "without raised ranks there are no more requests"
    await running(world, "b")
    await watch_water_marks(world.dms_database, {})
    await relieve()
    request = world.wms.boosts[-1]
    assert (request.by, raised(world, request)) == (
        7.0,
        ["decode a-wf", "decode b-wf", "filter a-wf"],
    ), "a chain that keeps its input frees no space"
    why = (
        "storage input-1, which has the chain's input, reached its high water mark (9 bytes) at 20"
    )
    assert request.boosts[0].reason.startswith(why)
    await relieve()
    assert world.wms.boosts[-1] == request, "the request is repeated for new tasks"
    await world.dms.delete_dataset(first.dataset_uid, force=True)
    await world.dms.unmark_storage("input-1")
    await relieve()
    assert world.wms.boosts[-1].boosts == []


async def test_outage_of_a_service_changes_no_ranks(world: World) -> None:
    await world.dms.mark_storage("input-1", WaterMarks(low=2, high=3))
    await running(world, "a")
    await watch_water_marks(world.dms_database, {})
    relieve = relief(world)
    for service in ("dms", "wms"):
        world.http[service].down = True
        with pytest.raises(NotAvailable):
            await relieve()
        world.http[service].down = False
    assert world.wms.boosts == []
    await relieve()
    assert len(world.wms.boosts[-1].boosts) == 1


async def test_relief_rank_0_lowers_ranks_that_were_raised_before(world: World) -> None:
    await world.dms.mark_storage("input-1", WaterMarks(low=2, high=3))
    await running(world, "a")
    await watch_water_marks(world.dms_database, {})
    await relief(world)()
    assert len(world.wms.boosts[-1].boosts) == 1
    url = world.databases["wfms.chains"].url
    settings = ChainsSettings(database_url=url, broker_url=url, relief_rank=0)
    service = build(settings, links=world.links, transport=open_transport(url, sluice_topology()))
    [loops] = [part for part in service.components if isinstance(part, Loops)]
    [loop] = loops.by_name["chains.relieve_storages"]
    await loop.start()

    async def is_boosted() -> bool:
        return len(world.wms.boosts) > 1

    await eventually(is_boosted, what="the request to the WMS")
    await loop.stop()
    assert [boost.boosts for boost in world.wms.boosts[1:]] == [[]]
