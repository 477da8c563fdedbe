"""A chain is canceled while its outputs are being uploaded (invariant 4)."""

from uuid import UUID

import pytest

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetState
from tests.integration.wfms.test_crashes import crash_everywhere
from tests.integration.wfms.test_reruns import HOUR, dataset_of, is_deleted, two_ends
from tests.integration.wfms.world import World


async def begin_uploads(world: World, *, is_requested: bool = True) -> Chain:
    """Return a chain whose outputs ``last`` and ``right`` are to be uploaded.

    With ``is_requested`` the DMS has got the requests.
    """
    world.keep_what_failed(HOUR)
    chain = await world.new_chain(await world.input("a"), world.template(two_ends()))
    while chain.state is ChainState.IN_PROGRESS:
        for crank in (world.start_steps, world.deliver, world.end_running_tasks, world.follow):
            await crank()
        chain = await world.chain(chain.uid)
    assert chain.state is ChainState.UPLOADING
    await world.watch_uploads()
    if is_requested:
        await world.deliver()
    return chain


async def clear_up(world: World) -> None:
    """Run the loops that delete; no message is refused."""
    for _ in range(2):
        for crank in (world.delete_outputs, world.hand_over_releases, world.deliver, world.follow):
            await crank()


def outputs_of(chain: Chain) -> list[UUID]:
    return [dataset_of(chain, "last"), dataset_of(chain, "right")]


async def test_outputs_not_yet_uploaded_are_deleted_and_a_rerun_makes_them_again(
    world: World,
) -> None:
    chain = await begin_uploads(world)
    await world.dms.disable_storage("output-1")
    await world.upload_all()
    canceled = await world.chains.cancel_chain(chain.uid)
    assert (canceled.state, canceled.reason) == (ChainState.CANCELED, "canceled by request")
    assert (await world.chains.cancel_chain(chain.uid)).state is ChainState.CANCELED
    await crash_everywhere(world, world.delete_outputs)
    await clear_up(world)
    assert [await is_deleted(world, uid) for uid in outputs_of(chain)] == [True, True]
    assert not await is_deleted(world, chain.dataset_uid), "the input is kept"
    assert (await world.chain(chain.uid)).reason == "canceled by request"
    assert await world.rows("wfms.watcher", "SELECT 1 FROM watches WHERE NOT reported") == []
    rerun = await world.chains.plan_rerun(chain.uid, RerunChain())
    assert [step.runs for step in rerun.steps] == [True] * 4
    assert rerun.missing == []


async def test_uploaded_output_of_a_canceled_chain_is_kept_until_discarded(world: World) -> None:
    chain = await begin_uploads(world)
    last, right = outputs_of(chain)
    async with (
        world.dms_database.connection() as connection
    ):  # The upload of this output is delayed.
        await connection.execute(
            "UPDATE datasets SET retry_at = now() + interval '1 hour' WHERE uid = $1", right
        )
    await world.upload_all()
    await world.follow()
    assert (await world.chain(chain.uid)).state is ChainState.UPLOADING
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await is_deleted(world, uid) for uid in (last, right)] == [False, True]
    await world.chains.discard_chain(chain.uid)
    await clear_up(world)
    assert await is_deleted(world, last)


async def test_uploaded_output_not_yet_known_to_the_chain_is_deleted(
    world: World,
) -> None:
    chain = await begin_uploads(world)
    await world.upload_all()
    assert [(await world.dms.get_dataset(uid)).state for uid in outputs_of(chain)] == [
        DatasetState.UPLOADED
    ] * 2
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await is_deleted(world, uid) for uid in outputs_of(chain)] == [True, True]
    assert (await world.chain(chain.uid)).state is ChainState.CANCELED


async def test_output_used_by_another_chain_is_kept(world: World) -> None:
    chain = await begin_uploads(world)
    await world.upload_all()
    last, right = outputs_of(chain)
    await world.new_chain(
        await world.dms.get_dataset(last), world.template(two_ends(), name="other")
    )
    await world.chains.cancel_chain(chain.uid)
    await clear_up(world)
    assert [await is_deleted(world, uid) for uid in (last, right)] == [False, True]
    released = (await world.dms.get_dataset(right)).model_copy(
        update={"state": DatasetState.UPLOADED}
    )
    with pytest.raises(Conflict, match="released for deletion"):
        await world.new_chain(released, world.templates[-1])


async def test_upload_request_may_arrive_after_the_deletion(world: World) -> None:
    chain = await begin_uploads(world, is_requested=False)
    await world.chains.cancel_chain(chain.uid)
    await world.delete_outputs()
    await clear_up(world)
    assert [await is_deleted(world, uid) for uid in outputs_of(chain)] == [True, True]
    statuses = {dataset.uid: dataset.state for dataset in (await world.chain(chain.uid)).datasets}
    assert {statuses[uid] for uid in outputs_of(chain)} == {ChainDatasetStatus.FINISHED}
