"""A chain is canceled while its outputs are on their way to the output storage (invariant 4)."""

from uuid import UUID

import pytest

from sluice.contracts.chains import Chain, RerunChain
from sluice.contracts.problems import Conflict
from sluice.contracts.states import ChainDatasetStatus, ChainState, DatasetState
from tests.integration.wfms.test_crashes import crash_everywhere
from tests.integration.wfms.test_reruns import HOUR, dataset_of, gone, two_ends
from tests.integration.wfms.world import World


async def begun(world: World, *, asked: bool = True) -> Chain:
    """A chain with two outputs, ``last`` and ``right``, that are to be uploaded; ``asked``: the DMS
    knows so."""
    world.keep_what_failed(HOUR)
    chain = await world.new_chain(await world.input("a"), world.template(two_ends()))
    while chain.state is ChainState.IN_PROGRESS:
        for crank in (world.start_steps, world.deliver, world.end_running_tasks, world.follow):
            await crank()
        chain = await world.chain(chain.uid)
    assert chain.state is ChainState.UPLOADING
    await world.watch_uploads()
    if asked:
        await world.deliver()
    return chain


async def clear_up(world: World) -> None:
    """Nothing that a message asks for is refused."""
    for _ in range(2):
        for crank in (world.delete_outputs, world.hand_over_releases, world.deliver, world.follow):
            await crank()


def outputs_of(chain: Chain) -> list[UUID]:
    return [dataset_of(chain, "last"), dataset_of(chain, "right")]


async def test_what_is_not_safe_goes_and_a_rerun_makes_it_again(world: World) -> None:
    chain = await begun(world)
    await world.dms.disable_storage("output-1")
    await world.upload_all()
    canceled = await world.chains.cancel_chain(chain.uid)
    assert (canceled.state, canceled.reason) == (ChainState.CANCELED, "canceled by request")
    assert (await world.chains.cancel_chain(chain.uid)).state is ChainState.CANCELED
    await crash_everywhere(world, world.delete_outputs)
    await clear_up(world)
    assert [await gone(world, uid) for uid in outputs_of(chain)] == [True, True]
    assert not await gone(world, chain.dataset_uid), "the input stays"
    assert (await world.chain(chain.uid)).reason == "canceled by request"
    assert await world.rows("wfms.watcher", "SELECT 1 FROM watches WHERE NOT reported") == []
    told = await world.chains.plan_rerun(chain.uid, RerunChain())
    assert [step.runs for step in told.steps] == [True] * 4
    assert told.missing == []


async def test_what_is_safe_stays_until_it_is_discarded(world: World) -> None:
    chain = await begun(world)
    last, right = outputs_of(chain)
    async with world.dms_database.connection() as connection:  # it rests
        await connection.execute(
            "UPDATE datasets SET retry_at = now() + interval '1 hour' WHERE uid = $1", right
        )
    await world.upload_all()
    await world.follow()
    assert (await world.chain(chain.uid)).state is ChainState.UPLOADING
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await gone(world, uid) for uid in (last, right)] == [False, True]
    await world.chains.discard_chain(chain.uid)
    await clear_up(world)
    assert await gone(world, last)


async def test_an_output_that_has_arrived_unknown_to_the_chain_goes_without_a_refusal(
    world: World,
) -> None:
    chain = await begun(world)
    await world.upload_all()
    assert [(await world.dms.dataset(uid)).state for uid in outputs_of(chain)] == [
        DatasetState.UPLOADED
    ] * 2
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await gone(world, uid) for uid in outputs_of(chain)] == [True, True]
    assert (await world.chain(chain.uid)).state is ChainState.CANCELED


async def test_an_output_that_another_chain_reads_by_then_stays(world: World) -> None:
    chain = await begun(world)
    await world.upload_all()
    last, right = outputs_of(chain)
    await world.new_chain(await world.dms.dataset(last), world.template(two_ends(), name="other"))
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await gone(world, uid) for uid in (last, right)] == [False, True]
    released = (await world.dms.dataset(right)).model_copy(update={"state": DatasetState.UPLOADED})
    with pytest.raises(Conflict, match="released for deletion"):
        await world.new_chain(released, world.templates[-1])


async def test_the_request_to_upload_may_come_after_the_deletion(world: World) -> None:
    chain = await begun(world, asked=False)
    await world.chains.cancel_chain(chain.uid)
    await world.delete_outputs()
    await clear_up(world)
    assert [await gone(world, uid) for uid in outputs_of(chain)] == [True, True]
    statuses = {dataset.uid: dataset.state for dataset in (await world.chain(chain.uid)).datasets}
    assert {statuses[uid] for uid in outputs_of(chain)} == {ChainDatasetStatus.FINISHED}
