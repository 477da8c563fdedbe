"""Chains whose data are discarded."""

from uuid import uuid4

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
)
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import DELETE_ALL, three_steps

THREE = three_steps(retention=DELETE_ALL)


async def test_discarded_chain_leaves_no_data(world: World) -> None:
    template, dataset = world.template(THREE), await world.input("a")
    chain = await world.new_chain(dataset, template)
    for _ in range(5):
        await world.turn()
    (output,) = [
        entry.uid
        for entry in (await world.chain(chain.uid)).datasets
        if entry.port == "out" and entry.step == "merge"
    ]
    assert (await world.dms.get_dataset(output)).state is DatasetState.UPLOADED
    await world.chains.discard_chain(chain.uid)
    await world.turn()
    assert (await world.chain(chain.uid)).discarded
    for entry in (await world.chain(chain.uid)).datasets:
        assert (await world.dms.get_dataset(entry.uid)).state in {
            DatasetState.DELETING,
            DatasetState.DELETED,
        }, entry.name
        assert entry.state is ChainDatasetStatus.FINISHED
    assert output not in world.deletions, "an output is not deleted by the watcher's messages"
    await world.chains.discard_chain(chain.uid)
    assert await world.delete_outputs() is False


async def test_running_chain_that_is_discarded_still_finishes(world: World) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(THREE))
    await world.turn()
    assert (await world.chains.discard_chain(chain.uid)).state is ChainState.IN_PROGRESS
    for _ in range(5):
        await world.turn()
    ended = await world.chain(chain.uid)
    assert ended.state is ChainState.FINISHED
    assert {dataset.state for dataset in ended.datasets} == {ChainDatasetStatus.FINISHED}
    with pytest.raises(NotFound, match="there is no chain"):
        await world.chains.discard_chain(uuid4())


async def test_output_used_by_another_chain_is_not_discarded(world: World) -> None:
    first = await world.new_chain(await world.input("a"), world.template(THREE))
    for _ in range(5):
        await world.turn()
    (output,) = [
        dataset.uid
        for dataset in (await world.chain(first.uid)).datasets
        if dataset.port == "out" and dataset.step == "merge"
    ]
    second = await world.new_chain(
        await world.dms.get_dataset(output),
        world.template(THREE, name="other"),
    )
    await world.chains.discard_chain(first.uid)
    await world.delete_outputs()
    assert (await world.dms.get_dataset(output)).state is DatasetState.UPLOADED
    for _ in range(5):
        await world.turn()
    assert (await world.chain(second.uid)).state is ChainState.FINISHED
    await world.chains.discard_chain(first.uid)
    await world.delete_outputs()
    assert (await world.dms.get_dataset(output)).state is DatasetState.DELETING
