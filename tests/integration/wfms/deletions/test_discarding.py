"""Chains whose data are discarded."""

from uuid import uuid4

import pytest

from sluice.contracts.common.problems import NotFound
from sluice.contracts.common.states import (
    ChainDatasetStatus,
    ChainState,
    DatasetState,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_three_steps

THREE = make_three_steps(retention=DELETE_ALL)


async def test_discarded_chain_leaves_no_data(wfms: WfmsFixture) -> None:
    template, dataset = wfms.add_template(THREE), await wfms.create_input("a")
    chain = await wfms.create_chain(dataset, template)
    for _ in range(5):
        await wfms.run_loops()
    (output,) = [
        entry.uid
        for entry in (await wfms.get_chain(chain.uid)).datasets
        if entry.port == "out" and entry.step == "merge"
    ]
    assert (await wfms.dms.get_dataset(output)).state is DatasetState.UPLOADED
    await wfms.chains.discard_chain(chain.uid)
    await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).discarded
    for entry in (await wfms.get_chain(chain.uid)).datasets:
        assert (await wfms.dms.get_dataset(entry.uid)).state in {
            DatasetState.DELETING,
            DatasetState.DELETED,
        }, entry.name
        assert entry.state is ChainDatasetStatus.FINISHED
    assert output not in wfms.deletions, "an output is not deleted by the watcher's messages"
    await wfms.chains.discard_chain(chain.uid)
    assert await wfms.delete_outputs() is False


async def test_running_chain_that_is_discarded_still_finishes(wfms: WfmsFixture) -> None:
    chain = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(THREE))
    await wfms.run_loops()
    assert (await wfms.chains.discard_chain(chain.uid)).state is ChainState.IN_PROGRESS
    for _ in range(5):
        await wfms.run_loops()
    ended = await wfms.get_chain(chain.uid)
    assert ended.state is ChainState.FINISHED
    assert {dataset.state for dataset in ended.datasets} == {ChainDatasetStatus.FINISHED}
    with pytest.raises(NotFound, match="there is no chain"):
        await wfms.chains.discard_chain(uuid4())


async def test_output_used_by_another_chain_is_not_discarded(wfms: WfmsFixture) -> None:
    first = await wfms.create_chain(await wfms.create_input("a"), wfms.add_template(THREE))
    for _ in range(5):
        await wfms.run_loops()
    (output,) = [
        dataset.uid
        for dataset in (await wfms.get_chain(first.uid)).datasets
        if dataset.port == "out" and dataset.step == "merge"
    ]
    second = await wfms.create_chain(
        await wfms.dms.get_dataset(output),
        wfms.add_template(THREE, name="other"),
    )
    await wfms.chains.discard_chain(first.uid)
    await wfms.delete_outputs()
    assert (await wfms.dms.get_dataset(output)).state is DatasetState.UPLOADED
    for _ in range(5):
        await wfms.run_loops()
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
    await wfms.chains.discard_chain(first.uid)
    await wfms.delete_outputs()
    assert (await wfms.dms.get_dataset(output)).state is DatasetState.DELETING
