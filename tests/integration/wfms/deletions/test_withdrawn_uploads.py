"""A chain is canceled while its outputs are being uploaded (invariant 4)."""

from uuid import UUID

import pytest

from sluice.contracts.chains.chains import Chain, RerunChain
from sluice.contracts.common.problems import Conflict
from sluice.contracts.common.states import ChainDatasetStatus, ChainState, DatasetState
from tests.integration.wfms.crashes import crash_everywhere
from tests.integration.wfms.reruns.reruns import (
    HOUR,
    find_dataset,
    is_deleted,
    make_plan_with_two_outputs,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture


async def begin_uploads(wfms: WfmsFixture, *, is_requested: bool = True) -> Chain:
    """Return a chain whose outputs ``last`` and ``right`` are to be uploaded.

    With ``is_requested`` the DMS has got the requests.
    """
    wfms.keep_failed_data(HOUR)
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_plan_with_two_outputs())
    )
    while chain.state is ChainState.IN_PROGRESS:
        for loop in (
            wfms.start_steps,
            wfms.deliver_messages,
            wfms.end_running_tasks,
            wfms.follow_watches,
        ):
            await loop()
        chain = await wfms.get_chain(chain.uid)
    assert chain.state is ChainState.UPLOADING
    await wfms.watch_uploads()
    if is_requested:
        await wfms.deliver_messages()
    return chain


async def run_deletion_loops(wfms: WfmsFixture) -> None:
    """Run the loops that delete; no message is refused."""
    for _ in range(2):
        for loop in (
            wfms.delete_outputs,
            wfms.hand_over_releases,
            wfms.deliver_messages,
            wfms.follow_watches,
        ):
            await loop()


def list_outputs(chain: Chain) -> list[UUID]:
    return [find_dataset(chain, "last"), find_dataset(chain, "right")]


async def test_outputs_not_yet_uploaded_are_deleted_and_a_rerun_makes_them_again(
    wfms: WfmsFixture,
) -> None:
    chain = await begin_uploads(wfms)
    await wfms.dms.disable_storage("output-1")
    await wfms.upload_all()
    canceled = await wfms.chains.cancel_chain(chain.uid)
    assert (canceled.state, canceled.reason) == (ChainState.CANCELED, "canceled by request")
    assert (await wfms.chains.cancel_chain(chain.uid)).state is ChainState.CANCELED
    await crash_everywhere(wfms, wfms.delete_outputs)
    await run_deletion_loops(wfms)
    assert [await is_deleted(wfms, uid) for uid in list_outputs(chain)] == [True, True]
    assert not await is_deleted(wfms, chain.dataset_uid), "the input is kept"
    assert (await wfms.get_chain(chain.uid)).reason == "canceled by request"
    assert await wfms.fetch_rows("wfms.watcher", "SELECT 1 FROM watches WHERE NOT reported") == []
    rerun = await wfms.chains.plan_rerun(chain.uid, RerunChain())
    assert [step.runs for step in rerun.steps] == [True] * 4
    assert rerun.missing == []


async def test_uploaded_output_of_a_canceled_chain_is_kept_until_discarded(
    wfms: WfmsFixture,
) -> None:
    chain = await begin_uploads(wfms)
    last, right = list_outputs(chain)
    async with (
        wfms.dms_database.connection() as connection
    ):  # The upload of this output is delayed.
        await connection.execute(
            "UPDATE datasets SET retry_at = now() + interval '1 hour' WHERE uid = $1", right
        )
    await wfms.upload_all()
    await wfms.follow_watches()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.UPLOADING
    await wfms.chains.cancel_chain(chain.uid)
    await run_deletion_loops(wfms)
    assert [await is_deleted(wfms, uid) for uid in (last, right)] == [False, True]
    await wfms.chains.discard_chain(chain.uid)
    await run_deletion_loops(wfms)
    assert await is_deleted(wfms, last)


async def test_uploaded_output_not_yet_known_to_the_chain_is_deleted(
    wfms: WfmsFixture,
) -> None:
    chain = await begin_uploads(wfms)
    await wfms.upload_all()
    assert [(await wfms.dms.get_dataset(uid)).state for uid in list_outputs(chain)] == [
        DatasetState.UPLOADED
    ] * 2
    await wfms.chains.cancel_chain(chain.uid)
    await run_deletion_loops(wfms)
    assert [await is_deleted(wfms, uid) for uid in list_outputs(chain)] == [True, True]
    assert (await wfms.get_chain(chain.uid)).state is ChainState.CANCELED


async def test_output_used_by_another_chain_is_kept(wfms: WfmsFixture) -> None:
    chain = await begin_uploads(wfms)
    await wfms.upload_all()
    last, right = list_outputs(chain)
    await wfms.create_chain(
        await wfms.dms.get_dataset(last),
        wfms.add_template(make_plan_with_two_outputs(), name="other"),
    )
    await wfms.chains.cancel_chain(chain.uid)
    await run_deletion_loops(wfms)
    assert [await is_deleted(wfms, uid) for uid in (last, right)] == [False, True]
    released = (await wfms.dms.get_dataset(right)).model_copy(
        update={"state": DatasetState.UPLOADED}
    )
    with pytest.raises(Conflict, match="released for deletion"):
        await wfms.create_chain(released, wfms.templates[-1])


async def test_upload_request_may_arrive_after_the_deletion(wfms: WfmsFixture) -> None:
    chain = await begin_uploads(wfms, is_requested=False)
    await wfms.chains.cancel_chain(chain.uid)
    await wfms.delete_outputs()
    await run_deletion_loops(wfms)
    assert [await is_deleted(wfms, uid) for uid in list_outputs(chain)] == [True, True]
    statuses = {
        dataset.uid: dataset.state for dataset in (await wfms.get_chain(chain.uid)).datasets
    }
    assert {statuses[uid] for uid in list_outputs(chain)} == {ChainDatasetStatus.FINISHED}
