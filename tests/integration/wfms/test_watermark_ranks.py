"""Tasks that free space on a filling input storage are ranked higher, with the real DMS."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import pytest

from dms.usecases.storages.watch_watermarks import watch_watermarks
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.datasets import Watermarks
from sluice.contracts.jobs.tasks import Boosts
from sluice.contracts.templates.plan import Retention
from sluice.servicekit.messages.queue_topology import sluice_topology
from sluice.servicekit.running.loop import Loops
from sluice.servicekit.transport.open import open_transport
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_three_steps
from tests.waiting import eventually
from wfms.chains.settings import ChainsSettings
from wfms.chains.usecases.chains.raise_ranks_for_filling_storages import (
    raise_ranks_for_filling_storages,
)
from wfms.chains.usecases.context import WatermarkState
from wfms.chains.wiring import build

KEEPS = Retention(input="keep")


async def start_chain(wfms: WfmsFixture, name: str, *, retention: Retention = DELETE_ALL) -> Chain:
    """Start a chain with an input of three bytes; its first tasks are at the WMS."""
    template = wfms.add_template(make_three_steps(retention=retention), name=f"{name}-wf")
    chain = await wfms.create_chain(await wfms.create_input(name), template)
    await wfms.start_steps()
    await wfms.deliver_messages()
    return chain


def bind_rank_update(wfms: WfmsFixture) -> Callable[[], Awaitable[None]]:
    context = replace(wfms.chains_context, watermark_rank=7.0, watermark_state=WatermarkState())
    return partial(raise_ranks_for_filling_storages, context)


def list_boosted_steps(wfms: WfmsFixture, boosts: Boosts) -> list[str]:
    return sorted(
        wfms.wms.tasks[boost.task_uid].step + " " + wfms.wms.tasks[boost.task_uid].template
        for boost in boosts.boosts
    )


async def test_tasks_are_ranked_higher_while_the_storage_of_their_input_fills(
    wfms: WfmsFixture,
) -> None:
    await wfms.dms.mark_storage("input-1", Watermarks(low=4, high=9))
    first = await start_chain(wfms, "a")
    await start_chain(wfms, "kept", retention=KEEPS)
    update_ranks = bind_rank_update(wfms)
    await update_ranks()
    assert [boost.boosts for boost in wfms.wms.boosts] == [[]], (
        "ranks raised by an earlier instance are lowered"
    )
    await update_ranks()
    assert len(wfms.wms.boosts) == 1, "without raised ranks there are no more requests"
    await start_chain(wfms, "b")
    await watch_watermarks(wfms.dms_database, {})
    await update_ranks()
    request = wfms.wms.boosts[-1]
    assert (request.by, list_boosted_steps(wfms, request)) == (
        7.0,
        ["decode a-wf", "decode b-wf", "filter a-wf"],
    ), "a chain that keeps its input frees no space"
    reason = (
        "storage input-1, which has the chain's input, reached its high watermark (9 bytes) at 20"
    )
    assert request.boosts[0].reason.startswith(reason)
    await update_ranks()
    assert wfms.wms.boosts[-1] == request, "the request is repeated for new tasks"
    await wfms.dms.delete_dataset(first.dataset_uid, force=True)
    await wfms.dms.unmark_storage("input-1")
    await update_ranks()
    assert wfms.wms.boosts[-1].boosts == []


async def test_outage_of_a_service_changes_no_ranks(wfms: WfmsFixture) -> None:
    await wfms.dms.mark_storage("input-1", Watermarks(low=2, high=3))
    await start_chain(wfms, "a")
    await watch_watermarks(wfms.dms_database, {})
    update_ranks = bind_rank_update(wfms)
    for service in ("dms", "wms"):
        wfms.http[service].is_down = True
        with pytest.raises(NotAvailable):
            await update_ranks()
        wfms.http[service].is_down = False
    assert wfms.wms.boosts == []
    await update_ranks()
    assert len(wfms.wms.boosts[-1].boosts) == 1


async def test_watermark_rank_0_lowers_ranks_that_were_raised_before(wfms: WfmsFixture) -> None:
    await wfms.dms.mark_storage("input-1", Watermarks(low=2, high=3))
    await start_chain(wfms, "a")
    await watch_watermarks(wfms.dms_database, {})
    await bind_rank_update(wfms)()
    assert len(wfms.wms.boosts[-1].boosts) == 1
    url = wfms.databases["wfms.chains"].url
    settings = ChainsSettings(database_url=url, broker_url=url, watermark_rank=0)
    service = build(settings, links=wfms.links, transport=open_transport(url, sluice_topology()))
    [loops] = [part for part in service.components if isinstance(part, Loops)]
    [loop] = loops.by_name["chains.raise_ranks_for_filling_storages"]
    await loop.start()

    async def is_boosted() -> bool:
        return len(wfms.wms.boosts) > 1

    await eventually(is_boosted, what="the request to the WMS")
    await loop.stop()
    assert [boost.boosts for boost in wfms.wms.boosts[1:]] == [[]]
