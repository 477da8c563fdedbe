"""Inputs of failed jobs of a finished chain are kept until somebody decides."""

from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.chains.chains import INCOMPLETE, Chain, ChainListState, RerunChain
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import Retention
from tests.integration.wfms.test_reruns import again, dataset_of, is_deleted, run, sent
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import DELETE_ALL, plan, step, three_steps

ANN = Acknowledge(by="Ann")


async def finished_with_failure(world: World, *, at: str = "filter") -> tuple[Dataset, Chain]:
    """Finish a chain whose step ``at`` has a failed job."""
    dataset = await world.input("a")
    world.wms.tolerating = {at}
    chain = await world.new_chain(dataset, world.template(three_steps(retention=DELETE_ALL)))
    await run(world)
    world.wms.tolerating = set()
    chain = await world.chain(chain.uid)
    assert chain.state is ChainState.FINISHED
    return dataset, chain


async def failures(world: World) -> list[tuple[str, int]]:
    """Return the input's name and the number of failed jobs of chains that wait for a decision."""
    page = await world.chains.list_chains(attention=True, state=ChainState.FINISHED)
    return [(chain.dataset_name, chain.failed_jobs) for chain in page.chains]


async def test_failed_jobs_of_a_finished_chain_can_be_rerun(world: World) -> None:
    """Invariant 4: nothing is deleted that the rerun needs; afterwards all of it is deleted."""
    dataset, first = await finished_with_failure(world)
    assert await failures(world) == [("a", 1)]
    assert not await is_deleted(world, dataset.uid)
    assert not await is_deleted(world, dataset_of(first, "decode"))
    rerun = await world.chains.plan_rerun(first.uid, RerunChain(failed_only=True))
    assert rerun.missing == []
    assert {step.name: step.runs for step in rerun.steps} == {
        "decode": False,
        "filter": True,
        "merge": True,
    }
    second = await again(world, first, failed_only=True)
    assert await failures(world) == [], "the rerun is a decision"
    await run(world)
    assert sent(world, second) == ["filter", "merge"]
    assert (await world.chain(second.uid)).state is ChainState.FINISHED
    for uid in (dataset.uid, dataset_of(first, "decode"), dataset_of(first, "filter")):
        assert await is_deleted(world, uid)
    assert len(world.deletions) == len(set(world.deletions))


async def test_acknowledgement_of_failed_jobs_deletes_their_inputs(world: World) -> None:
    dataset, chain = await finished_with_failure(world)
    assert world.deletions == []
    assert (await world.chains.get_counts()).attention == 1
    acknowledged_chain = await world.chains.acknowledge_chain(chain.uid, ANN)
    assert acknowledged_chain.acknowledged is not None
    await world.turn()
    assert (await world.chains.get_counts()).attention == 0
    for uid in (dataset.uid, dataset_of(chain, "decode"), dataset_of(chain, "filter")):
        assert await is_deleted(world, uid)


async def test_another_chain_does_not_delete_the_input_of_failed_jobs(world: World) -> None:
    dataset, chain = await finished_with_failure(world, at="decode")
    other = world.template(three_steps(retention=DELETE_ALL), name="other")
    await world.new_chain(dataset, other)
    await run(world)
    assert not await is_deleted(world, dataset.uid)
    await world.chains.discard_chain(chain.uid)
    await run(world)
    assert await is_deleted(world, dataset.uid)
    assert await failures(world) == []


@pytest.mark.parametrize("copied", [True, False])
async def test_input_is_deleted_by_default_only_if_it_is_a_copy(world: World, copied: bool) -> None:
    dataset = await world.input("a", copied=copied)
    only = plan(step("only"), outputs=[("only", "out")], retention=Retention())
    chain = await world.new_chain(dataset, world.template(only))
    await run(world)
    assert (await world.chain(chain.uid)).state is ChainState.FINISHED
    assert await is_deleted(world, dataset.uid) is copied
    if not copied:
        rerun, new = await world.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))
        assert (new, rerun.state) == (True, ChainState.IN_PROGRESS)


async def test_chain_with_failed_jobs_has_the_outcome_incomplete(world: World) -> None:
    _, chain = await finished_with_failure(world)
    one = await world.chains.get_chain(chain.uid)
    [listed] = (await world.chains.list_chains()).chains
    for listed_chain in (one, listed):
        assert (listed_chain.outcome, listed_chain.failed_jobs) == (INCOMPLETE, 1)
        assert [step.outcome for step in listed_chain.steps] == ["finished", INCOMPLETE, "finished"]


async def test_incomplete_chains_can_be_listed_separately(world: World) -> None:
    _, chain = await finished_with_failure(world)

    async def listed(state: ChainListState) -> list[UUID]:
        return [chain.uid for chain in (await world.chains.list_chains(state=state)).chains]

    assert (
        await listed(ChainListState.INCOMPLETE)
        == await listed(ChainListState.FINISHED)
        == [chain.uid]
    )
    assert await listed(ChainListState.IN_PROGRESS) == []
    async with world.databases["wfms.chains"].transaction() as transaction:
        await transaction.connection.execute("UPDATE steps SET failed_jobs = 0")
    assert await listed(ChainListState.INCOMPLETE) == []
    assert await listed(ChainListState.FINISHED) == [chain.uid]


async def test_reason_of_a_finished_chain_counts_its_failed_jobs(world: World) -> None:
    _, chain = await finished_with_failure(world)
    [listed] = (await world.chains.list_chains()).chains
    for listed_chain in (await world.chains.get_chain(chain.uid), listed):
        assert listed_chain.failed_jobs == 1
        assert listed_chain.reason == "outputs are missing because 1 job of step 'filter' failed"
