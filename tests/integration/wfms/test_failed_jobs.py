"""Inputs of failed jobs of a finished chain are kept until somebody decides."""

from uuid import UUID, uuid4

import pytest

from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.chains.chains import INCOMPLETE, Chain, ChainListState, RerunChain
from sluice.contracts.common.states import ChainState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.templates.plan import Retention
from tests.integration.wfms.reruns.reruns import (
    find_dataset,
    is_deleted,
    list_sent_steps,
    rerun_chain,
    run_all_loops,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import DELETE_ALL, make_plan, make_step, make_three_steps

ANN = Acknowledge(by="Ann")


async def finish_with_failed_job(wfms: WfmsFixture, *, at: str = "filter") -> tuple[Dataset, Chain]:
    """Finish a chain whose step ``at`` has a failed job."""
    dataset = await wfms.create_input("a")
    wfms.wms.tolerant_tasks = {at}
    chain = await wfms.create_chain(
        dataset, wfms.add_template(make_three_steps(retention=DELETE_ALL))
    )
    await run_all_loops(wfms)
    wfms.wms.tolerant_tasks = set()
    chain = await wfms.get_chain(chain.uid)
    assert chain.state is ChainState.FINISHED
    return dataset, chain


async def list_failures(wfms: WfmsFixture) -> list[tuple[str, int]]:
    """Return the input's name and the number of failed jobs of chains that wait for a decision."""
    page = await wfms.chains.list_chains(attention=True, state=ChainListState.FINISHED)
    return [(chain.dataset_name, chain.failed_jobs) for chain in page.chains]


async def test_failed_jobs_of_a_finished_chain_can_be_rerun(wfms: WfmsFixture) -> None:
    """Invariant 4: nothing is deleted that the rerun needs; afterwards all of it is deleted."""
    dataset, first = await finish_with_failed_job(wfms)
    assert await list_failures(wfms) == [("a", 1)]
    assert not await is_deleted(wfms, dataset.uid)
    assert not await is_deleted(wfms, find_dataset(first, "decode"))
    rerun = await wfms.chains.plan_rerun(first.uid, RerunChain(failed_only=True))
    assert rerun.missing == []
    assert {step.name: step.runs for step in rerun.steps} == {
        "decode": False,
        "filter": True,
        "merge": True,
    }
    second = await rerun_chain(wfms, first, failed_only=True)
    assert await list_failures(wfms) == [], "the rerun is a decision"
    await run_all_loops(wfms)
    assert list_sent_steps(wfms, second) == ["filter", "merge"]
    assert (await wfms.get_chain(second.uid)).state is ChainState.FINISHED
    for uid in (dataset.uid, find_dataset(first, "decode"), find_dataset(first, "filter")):
        assert await is_deleted(wfms, uid)
    assert len(wfms.deletions) == len(set(wfms.deletions))


async def test_acknowledgement_of_failed_jobs_deletes_their_inputs(wfms: WfmsFixture) -> None:
    dataset, chain = await finish_with_failed_job(wfms)
    assert wfms.deletions == []
    assert (await wfms.chains.get_counts()).attention == 1
    acknowledged_chain = await wfms.chains.acknowledge_chain(chain.uid, ANN)
    assert acknowledged_chain.acknowledged is not None
    await wfms.run_loops()
    assert (await wfms.chains.get_counts()).attention == 0
    for uid in (dataset.uid, find_dataset(chain, "decode"), find_dataset(chain, "filter")):
        assert await is_deleted(wfms, uid)


async def test_another_chain_does_not_delete_the_input_of_failed_jobs(wfms: WfmsFixture) -> None:
    dataset, chain = await finish_with_failed_job(wfms, at="decode")
    other = wfms.add_template(make_three_steps(retention=DELETE_ALL), name="other")
    await wfms.create_chain(dataset, other)
    await run_all_loops(wfms)
    assert not await is_deleted(wfms, dataset.uid)
    await wfms.chains.discard_chain(chain.uid)
    await run_all_loops(wfms)
    assert await is_deleted(wfms, dataset.uid)
    assert await list_failures(wfms) == []


@pytest.mark.parametrize("copied", [True, False])
async def test_input_is_deleted_by_default_only_if_it_is_a_copy(
    wfms: WfmsFixture, copied: bool
) -> None:
    dataset = await wfms.create_input("a", copied=copied)
    only = make_plan(make_step("only"), outputs=[("only", "out")], retention=Retention())
    chain = await wfms.create_chain(dataset, wfms.add_template(only))
    await run_all_loops(wfms)
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    assert await is_deleted(wfms, dataset.uid) is copied
    if not copied:
        rerun, new = await wfms.chains.rerun_chain(chain.uid, RerunChain(key=uuid4()))
        assert (new, rerun.state) == (True, ChainState.IN_PROGRESS)


async def test_chain_with_failed_jobs_has_the_outcome_incomplete(wfms: WfmsFixture) -> None:
    _, chain = await finish_with_failed_job(wfms)
    single_chain = await wfms.chains.get_chain(chain.uid)
    [listed_chain] = (await wfms.chains.list_chains()).chains
    for read_chain in (single_chain, listed_chain):
        assert (read_chain.outcome, read_chain.failed_jobs) == (INCOMPLETE, 1)
        assert [step.outcome for step in read_chain.steps] == ["finished", INCOMPLETE, "finished"]


async def test_incomplete_chains_can_be_listed_separately(wfms: WfmsFixture) -> None:
    _, chain = await finish_with_failed_job(wfms)

    async def list_chains(state: ChainListState) -> list[UUID]:
        return [chain.uid for chain in (await wfms.chains.list_chains(state=state)).chains]

    assert (
        await list_chains(ChainListState.INCOMPLETE)
        == await list_chains(ChainListState.FINISHED)
        == [chain.uid]
    )
    assert await list_chains(ChainListState.IN_PROGRESS) == []
    async with wfms.databases["wfms.chains"].transaction() as transaction:
        await transaction.connection.execute("UPDATE steps SET failed_jobs = 0")
    assert await list_chains(ChainListState.INCOMPLETE) == []
    assert await list_chains(ChainListState.FINISHED) == [chain.uid]


async def test_reason_of_a_finished_chain_counts_its_failed_jobs(wfms: WfmsFixture) -> None:
    _, chain = await finish_with_failed_job(wfms)
    [listed_chain] = (await wfms.chains.list_chains()).chains
    for read_chain in (await wfms.chains.get_chain(chain.uid), listed_chain):
        assert read_chain.failed_jobs == 1
        assert read_chain.reason == "outputs are missing because 1 job of step 'filter' failed"
