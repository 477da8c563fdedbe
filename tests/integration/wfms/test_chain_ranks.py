"""People rank a whole chain when it starts and while it runs."""

import pytest

from sluice.clients.watcher import WatcherClient
from sluice.contracts.chains.chains import Chain, RerunChain, Watch
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.common.states import ChainState, StepState
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import three_steps


async def ranked_chain(world: World, rank: float) -> Chain:
    new = world.request(await world.input("a"), world.template(three_steps()))
    return await world.chains.new_dataset(new.model_copy(update={"rank": rank}))


async def begin(world: World) -> None:
    await world.start_steps()
    await world.deliver()


def ranks(world: World) -> dict[str, float]:
    return {task.step: world.wms.statuses[uid].rank for uid, task in world.wms.tasks.items()}


async def test_rank_of_a_chain_is_added_to_the_ranks_of_its_steps(world: World) -> None:
    chain = await ranked_chain(world, 5.0)
    assert chain.rank == 5.0
    await begin(world)
    [first] = [step for step in chain.steps if step.state is not StepState.PENDING]
    assert ranks(world) == {first.name: 6.0}, "a step's own rank is 1"


async def test_new_rank_applies_to_running_and_later_tasks(world: World) -> None:
    chain = await ranked_chain(world, 0.0)
    await begin(world)
    for _ in range(2):
        assert (await world.chains.rank_chain(chain.uid, 40.0)).rank == 40.0
    assert set(ranks(world).values()) == {41.0}
    while (await world.chain(chain.uid)).state is ChainState.IN_PROGRESS:
        await world.turn()
    assert len(ranks(world)) == 3
    assert set(ranks(world).values()) == {41.0}
    with pytest.raises(Conflict, match=r"its steps no longer run"):
        await world.chains.rank_chain(chain.uid, 1.0)
    with pytest.raises(NotFound):
        await world.chains.rank_chain(chain.dataset_uid, 1.0)


async def test_starting_step_gets_the_rank_of_the_time_when_its_task_is_sent(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The task is created before the rank changes, and sent afterwards."""
    chain = await ranked_chain(world, 0.0)
    watch = WatcherClient.watch

    async def change_meanwhile(client: WatcherClient, request: Watch) -> None:
        await world.chains.rank_chain(chain.uid, 7.0)
        await watch(client, request)

    monkeypatch.setattr(WatcherClient, "watch", change_meanwhile)
    await begin(world)
    assert set(ranks(world).values()) == {8.0}


async def test_rank_change_for_a_task_not_yet_at_the_wms_asks_to_retry(world: World) -> None:
    """The rank already applies to later steps."""
    chain = await ranked_chain(world, 0.0)
    await world.start_steps()
    with pytest.raises(NotAvailable, match="is on its way to the WMS: ask for it again"):
        await world.chains.rank_chain(chain.uid, 9.0)
    assert (await world.chain(chain.uid)).rank == 9.0
    await world.deliver()
    await world.chains.rank_chain(chain.uid, 9.0)
    assert set(ranks(world).values()) == {10.0}


async def test_rerun_has_the_rank_of_the_first_chain(world: World) -> None:
    chain = await ranked_chain(world, 3.0)
    await begin(world)
    await world.chains.cancel_chain(chain.uid)
    while not (await world.chain(chain.uid)).state.final:
        await world.turn()
    again, _ = await world.chains.rerun_chain(chain.uid, RerunChain())
    assert again.rank == 3.0
