"""Requests to delete data sets, and the chains that need those (invariant 4)."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, ServiceError
from sluice.contracts.common.states import ChainState, DatasetState
from sluice.contracts.data.datasets import Dataset
from tests.integration.wfms.crashes import crash_at
from tests.integration.wfms.values.file_values import (
    create_file_dataset,
    make_file_value,
    make_plan_with_file_parameters,
)
from tests.integration.wfms.wfms_fixture import WfmsFixture
from tests.unit.wfms.chains.plans import make_plan, make_step, make_three_steps
from wfms.chains.db import deletions

DELETION_STATES = {DatasetState.DELETING, DatasetState.DELETED}


async def is_being_deleted(wfms: WfmsFixture, dataset: Dataset) -> bool:
    return (await wfms.dms.get_dataset(dataset.uid)).state in DELETION_STATES


async def test_deletion_of_a_needed_data_set_is_refused_and_names_the_chain(
    wfms: WfmsFixture,
) -> None:
    dataset, parameter = await wfms.create_input("in"), await create_file_dataset(wfms, "parameter")
    chain = await wfms.create_chain(
        dataset,
        wfms.add_template(make_plan_with_file_parameters("a")),
        a=make_file_value(parameter),
    )
    await wfms.start_steps()
    output_uids = [
        await wfms.dms.get_dataset(needed.uid)
        for needed in (await wfms.get_chain(chain.uid)).datasets
        if needed.port == "out"
    ]
    assert len(output_uids) == 1
    for needed in (dataset, parameter, *output_uids):
        with pytest.raises(
            Conflict, match=rf"data set {needed.name} is needed by chain {chain.uid}"
        ) as refused:
            await wfms.chains.delete_dataset(needed.uid)
        assert refused.value.fields["chains"] == 1
        assert [finding.message for finding in refused.value.findings] == [
            f"chain {chain.uid}: in through wf, in_progress"
        ]
        assert not await is_being_deleted(wfms, needed)
    for _ in range(3):
        await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    assert (await wfms.chains.delete_dataset(parameter.uid)).state is DatasetState.DELETING
    with pytest.raises(Conflict, match="may be the last copy"):
        await wfms.chains.delete_dataset(output_uids[0].uid)
    with pytest.raises(NotFound):
        await wfms.chains.delete_dataset(chain.uid)
    assert await wfms.fetch_rows("wfms.chains", "SELECT 1 FROM deletions") == []


async def test_forced_deletion_of_a_used_output_cancels_the_downstream_chain(
    wfms: WfmsFixture,
) -> None:
    first = await wfms.create_chain(
        await wfms.create_input("a"),
        wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")])),
    )
    for _ in range(3):
        await wfms.run_loops()
    (uid,) = [
        dataset.uid
        for dataset in (await wfms.get_chain(first.uid)).datasets
        if dataset.port == "out"
    ]
    reader = await wfms.create_chain(
        await wfms.dms.get_dataset(uid), wfms.add_template(make_three_steps(), name="reader")
    )
    await wfms.start_steps()
    await wfms.deliver_messages()
    assert (await wfms.chains.delete_dataset(uid, force=True)).state is DatasetState.UPLOADED
    await wfms.run_loops()
    assert (await wfms.get_chain(reader.uid)).state is ChainState.CANCELED
    assert (await wfms.dms.get_dataset(uid)).state in DELETION_STATES


async def test_forced_deletion_cancels_chains_first_despite_crashes(wfms: WfmsFixture) -> None:
    """Invariant 7: after any crash the deletion is either not begun or granted."""
    template, place, through = wfms.add_template(make_three_steps()), 0, False
    while not through:
        place += 1
        dataset = await wfms.create_input(f"d{place}")
        chain = await wfms.create_chain(dataset, template)
        await wfms.start_steps()
        await wfms.deliver_messages()

        async def delete() -> None:
            await wfms.chains.delete_dataset(dataset.uid, force=True)  # noqa: B023 - called at once

        through = await crash_at(wfms, place, delete)
        assert not await is_being_deleted(wfms, dataset), "its task has not stopped"
        if await wfms.fetch_rows("wfms.chains", "SELECT 1 FROM deletions"):
            with pytest.raises(Conflict, match="somebody asked for it"):
                await wfms.create_chain(dataset, template.model_copy(update={"version": 2}))
        else:
            assert (await wfms.get_chain(chain.uid)).reason == ""
            await delete()
        await crash_at(wfms, place, wfms.delete_requested)
        await wfms.delete_requested()
        assert (await wfms.get_chain(chain.uid)).reason.startswith("canceled because its data set")
        for _ in range(2):
            await wfms.stop_tasks()
            await wfms.follow_watches()
        await crash_at(wfms, place, wfms.delete_requested)
        await wfms.delete_requested()
        assert (await wfms.get_chain(chain.uid)).state is ChainState.CANCELED
        assert await is_being_deleted(wfms, dataset)
        assert await wfms.fetch_rows("wfms.chains", "SELECT 1 FROM deletions") == []
    assert place > 10


async def test_forced_deletion_waits_for_an_upload_of_the_chain(wfms: WfmsFixture) -> None:
    dataset = await wfms.create_input("a")
    chain = await wfms.create_chain(
        dataset, wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")]))
    )
    for loop in (
        wfms.start_steps,
        wfms.deliver_messages,
        wfms.end_running_tasks,
        wfms.follow_watches,
    ):
        await loop()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.UPLOADING
    assert (await wfms.chains.delete_dataset(dataset.uid, force=True)).state is DatasetState.CLOSED
    for _ in range(2):
        await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FINISHED
    assert await is_being_deleted(wfms, dataset)


async def test_chain_creation_and_deletion_of_its_input_exclude_each_other(
    wfms: WfmsFixture,
) -> None:
    template, outcomes = wfms.add_template(make_three_steps()), set()
    for number in range(12):
        dataset = await wfms.create_input(f"d{number}")
        chain_creation = asyncio.create_task(wfms.create_chain(dataset, template))
        if number % 4 == 0:  # In these rounds the chain is first; in the others the order is open.
            await chain_creation
        deletion = wfms.chains.delete_dataset(dataset.uid)
        answers = await asyncio.gather(chain_creation, deletion, return_exceptions=True)
        assert [isinstance(answer, Conflict) for answer in answers].count(True) == 1, answers
        chain_count = len((await wfms.chains.list_chains(dataset_uid=dataset.uid)).chains)
        assert chain_count + await is_being_deleted(wfms, dataset) == 1
        outcomes.add(chain_count)
    assert outcomes == {0, 1}, "each of the two was first at least once"


async def test_deletion_refused_by_the_dms_is_forgotten(wfms: WfmsFixture) -> None:
    """The data set became an output between the question and the deletion."""
    dataset, template = await wfms.create_input("a"), wfms.add_template(make_three_steps())
    await wfms.fetch_rows(
        "wfms.chains", "INSERT INTO deletions VALUES ($1, false, now()) RETURNING 1", dataset.uid
    )
    await wfms.fetch_rows(
        "wfms.chains", "INSERT INTO inputs VALUES ($1, now()) RETURNING 1", dataset.uid
    )
    async with wfms.dms_database.connection() as connection:
        await connection.execute("UPDATE datasets SET type = 'output' WHERE uid = $1", dataset.uid)
    await wfms.delete_requested()
    assert await wfms.fetch_rows("wfms.chains", "SELECT 1 FROM deletions") == []
    assert (await wfms.create_chain(dataset, template)).state is ChainState.IN_PROGRESS


async def grant_deletions(wfms: WfmsFixture, count: int) -> list[Dataset]:
    """Return data sets whose deletion was granted by force and that no chain needs."""
    datasets = [await wfms.create_input(f"promised-{uuid4()}") for _ in range(count)]
    for dataset in datasets:
        await wfms.fetch_rows(
            "wfms.chains", "INSERT INTO deletions VALUES ($1, true, now()) RETURNING 1", dataset.uid
        )
    return datasets


def record_deletions(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch, *, refused: UUID | None = None
) -> list[UUID]:
    """Return a list that gets the requested deletions; the one of ``refused`` fails."""
    uids: list[UUID] = []
    delete = wfms.dms.delete_dataset

    async def record_deletion(
        uid: UUID, *, force: bool = False, taken_back: bool = False
    ) -> Dataset:
        uids.append(uid)
        if uid == refused:
            raise ServiceError("the DMS fails")
        return await delete(uid, force=force, taken_back=taken_back)

    monkeypatch.setattr(wfms.dms, "delete_dataset", record_deletion)
    return uids


async def test_deletion_waiting_for_a_chain_does_not_block_later_deletions(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wfms.chains.usecases.data.delete_requested_datasets.BATCH", 1)
    waiting = await wfms.create_input("a")
    await wfms.create_chain(
        waiting, wfms.add_template(make_plan(make_step("only"), outputs=[("only", "out")]))
    )
    for loop in (
        wfms.start_steps,
        wfms.deliver_messages,
        wfms.end_running_tasks,
        wfms.follow_watches,
    ):
        await loop()
    await wfms.chains.delete_dataset(waiting.uid, force=True)
    (later,) = await grant_deletions(wfms, 1)
    await wfms.delete_requested()
    assert (await is_being_deleted(wfms, waiting), await is_being_deleted(wfms, later)) == (
        False,
        True,
    )


async def test_failing_deletion_does_not_block_other_deletions(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wfms.claim_duration = timedelta(hours=1)
    bad, good = await grant_deletions(wfms, 2)
    record_deletions(wfms, monkeypatch, refused=bad.uid)
    await wfms.delete_requested()
    assert (await is_being_deleted(wfms, bad), await is_being_deleted(wfms, good)) == (False, True)
    assert await wfms.fetch_rows("wfms.chains", "SELECT dataset_uid FROM deletions") == [
        {"dataset_uid": bad.uid}
    ]


async def test_concurrent_instances_request_each_deletion_once(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wfms.claim_duration = timedelta(hours=1)
    datasets = await grant_deletions(wfms, 6)
    deleted_uids = record_deletions(wfms, monkeypatch)
    await asyncio.gather(wfms.delete_requested(), wfms.delete_requested())
    assert sorted(deleted_uids) == sorted(dataset.uid for dataset in datasets)


async def test_interrupted_instance_returns_its_claimed_deletions(wfms: WfmsFixture) -> None:
    """The claims would otherwise expire after an hour."""
    wfms.claim_duration = timedelta(hours=1)
    for place in range(1, 8):
        await wfms.fetch_rows("wfms.chains", "DELETE FROM deletions RETURNING 1")
        datasets = await grant_deletions(wfms, 2)
        wfms.fuse.at, wfms.fuse.passed_places, wfms.fuse.is_canceling = place, 0, True
        with suppress(asyncio.CancelledError):
            await wfms.delete_requested()
        wfms.fuse.at = None
        await wfms.delete_requested()
        assert all([await is_being_deleted(wfms, dataset) for dataset in datasets]), (
            f"stopped at place {place}"
        )
    last = await grant_deletions(wfms, 2)
    wfms.http["dms"].is_down = True
    with pytest.raises(NotAvailable):
        await wfms.delete_requested()
    wfms.http["dms"].is_down = False
    await wfms.delete_requested()
    assert all([await is_being_deleted(wfms, dataset) for dataset in last])


async def test_late_refusal_does_not_remove_a_forced_deletion(wfms: WfmsFixture) -> None:
    (dataset,) = await grant_deletions(wfms, 1)
    async with wfms.databases["wfms.chains"].connection() as connection:
        assert not await deletions.forget_refused(connection, dataset.uid, force=False)
        assert await deletions.forget_refused(connection, dataset.uid, force=True)
        assert not await deletions.forget_refused(connection, dataset.uid, force=True), (
            "the deletion was already removed"
        )


async def test_deletion_forced_during_a_refusal_is_retried_at_once(
    wfms: WfmsFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    wfms.claim_duration = timedelta(hours=1)
    (dataset,) = await grant_deletions(wfms, 1)
    await wfms.fetch_rows("wfms.chains", "UPDATE deletions SET force = false RETURNING 1")
    delete = wfms.dms.delete_dataset

    async def refuse_once(uid: UUID, *, force: bool = False, taken_back: bool = False) -> Dataset:
        if force:
            return await delete(uid, force=force, taken_back=taken_back)
        await wfms.fetch_rows("wfms.chains", "UPDATE deletions SET force = true RETURNING 1")
        raise Conflict("it may be the last copy")

    monkeypatch.setattr(wfms.dms, "delete_dataset", refuse_once)
    await wfms.delete_requested()
    assert not await is_being_deleted(wfms, dataset)
    await wfms.delete_requested()
    assert await is_being_deleted(wfms, dataset), "the refused attempt keeps no claim"
