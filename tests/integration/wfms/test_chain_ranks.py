"""People rank a whole chain when it starts and while it runs."""

import pytest

from sluice.clients.watcher import WatcherClient
from sluice.contracts.chains.chains import Chain, RerunChain, Watch
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.common.states import ChainState, StepState
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_three_steps


async def create_ranked_chain(wfms: WfmsFixture, rank: float) -> Chain:
    new = wfms.make_request(await wfms.create_input("a"), wfms.add_template(make_three_steps()))
    return await wfms.chains.create_chain(new.model_copy(update={"rank": rank}))


async def start_first_step(wfms: WfmsFixture) -> None:
    await wfms.start_steps()
    await wfms.deliver_messages()


def list_ranks(wfms: WfmsFixture) -> dict[str, float]:
    return {task.step: wfms.wms.statuses[uid].rank for uid, task in wfms.wms.tasks.items()}


async def test_rank_of_a_chain_is_added_to_the_ranks_of_its_steps(wfms: WfmsFixture) -> None:
    chain = await create_ranked_chain(wfms, 5.0)
    assert chain.rank == 5.0
    await start_first_step(wfms)
    [first] = [step for step in chain.steps if step.state is not StepState.PENDING]
    assert list_ranks(wfms) == {first.name: 6.0}, "a step's own rank is 1"


async def test_new_rank_applies_to_running_and_later_tasks(wfms: WfmsFixture) -> None:
    chain = await create_ranked_chain(wfms, 0.0)
    await start_first_step(wfms)
    for _ in range(2):
        assert (await wfms.chains.rank_chain(chain.uid, rank=40.0)).rank == 40.0
    assert set(list_ranks(wfms).values()) == {41.0}
    while (await wfms.get_chain(chain.uid)).state is ChainState.IN_PROGRESS:
        await wfms.run_loops()
    assert len(list_ranks(wfms)) == 3
    assert set(list_ranks(wfms).values()) == {41.0}
    with pytest.raises(Conflict, match=r"its steps no longer run"):
        await wfms.chains.rank_chain(chain.uid, rank=1.0)
    with pytest.raises(NotFound):
        await wfms.chains.rank_chain(chain.dataset_uid, rank=1.0)


async def test_starting_step_gets_the_rank_of_the_time_when_its_task_is_sent(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task is created before the rank changes, and sent afterwards."""
    chain = await create_ranked_chain(wfms, 0.0)
    watch = WatcherClient.watch

    async def change_meanwhile(client: WatcherClient, request: Watch) -> None:
        await wfms.chains.rank_chain(chain.uid, rank=7.0)
        await watch(client, request)

    monkeypatch.setattr(WatcherClient, "watch", change_meanwhile)
    await start_first_step(wfms)
    assert set(list_ranks(wfms).values()) == {8.0}


async def test_rank_change_for_a_task_not_yet_at_the_wms_asks_to_retry(wfms: WfmsFixture) -> None:
    """The rank already applies to later steps."""
    chain = await create_ranked_chain(wfms, 0.0)
    await wfms.start_steps()
    with pytest.raises(NotAvailable, match="is still being sent to the WMS: set the rank again"):
        await wfms.chains.rank_chain(chain.uid, rank=9.0)
    assert (await wfms.get_chain(chain.uid)).rank == 9.0
    await wfms.deliver_messages()
    await wfms.chains.rank_chain(chain.uid, rank=9.0)
    assert set(list_ranks(wfms).values()) == {10.0}


async def test_rerun_has_the_rank_of_the_first_chain(wfms: WfmsFixture) -> None:
    chain = await create_ranked_chain(wfms, 3.0)
    await start_first_step(wfms)
    await wfms.chains.cancel_chain(chain.uid)
    while not (await wfms.get_chain(chain.uid)).state.final:
        await wfms.run_loops()
    rerun, _ = await wfms.chains.rerun_chain(chain.uid, RerunChain())
    assert rerun.rank == 3.0
