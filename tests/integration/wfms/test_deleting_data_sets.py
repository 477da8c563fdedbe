"""Data sets that somebody wants deleted, and the chains that need them (invariant 4)."""

import asyncio

import pytest

from sluice.contracts.datasets import Dataset
from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.states import ChainState, DatasetState
from tests.integration.wfms.test_chain_life import given, one_file, reads_files
from tests.integration.wfms.test_crashes import crash_at
from tests.integration.wfms.world import World
from tests.unit.wfms.chains.plans import plan, step, three_steps

GOING = {DatasetState.DELETING, DatasetState.DELETED}


async def is_going(world: World, dataset: Dataset) -> bool:
    return (await world.dms.dataset(dataset.uid)).state in GOING


async def test_what_a_chain_needs_is_not_deleted_and_the_chain_is_named(world: World) -> None:
    dataset, parameter = await world.input("in"), await one_file(world, "parameter")
    chain = await world.new_chain(dataset, world.template(reads_files("a")), a=given(parameter))
    await world.start_steps()
    written = [await world.dms.dataset(one.uid) for one in (await world.chain(chain.uid)).datasets if one.port == "out"]
    assert len(written) == 1
    for one in (dataset, parameter, *written):
        with pytest.raises(Conflict, match=rf"data set {one.name} is needed by chain {chain.uid}") as refused:
            await world.chains.delete_dataset(one.uid)
        assert refused.value.fields["chains"] == 1
        assert [finding.message for finding in refused.value.findings] == [f"chain {chain.uid}: in through wf, in_progress"]
        assert not await is_going(world, one)
    for _ in range(3):
        await world.turn()
    assert (await world.chain(chain.uid)).state is ChainState.FINISHED
    assert (await world.chains.delete_dataset(parameter.uid)).state is DatasetState.DELETING
    with pytest.raises(Conflict, match="may be the last copy"):
        await world.chains.delete_dataset(written[0].uid)
    with pytest.raises(NotFound):
        await world.chains.delete_dataset(chain.uid)
    assert await world.rows("wfms.chains", "SELECT 1 FROM deletions") == []


async def test_an_output_that_a_chain_reads_is_an_input_like_others(world: World) -> None:
    first = await world.new_chain(await world.input("a"), world.template(plan(step("only"), outputs=[("only", "out")])))
    for _ in range(3):
        await world.turn()
    (uid,) = [one.uid for one in (await world.chain(first.uid)).datasets if one.port == "out"]
    reader = await world.new_chain(await world.dms.dataset(uid), world.template(three_steps(), name="reader"))
    await world.start_steps()
    await world.deliver()
    assert (await world.chains.delete_dataset(uid, force=True)).state is DatasetState.UPLOADED
    await world.turn()
    assert (await world.chain(reader.uid)).state is ChainState.CANCELED
    assert (await world.dms.dataset(uid)).state in GOING


async def test_by_force_chains_are_canceled_first_whatever_crashes(world: World) -> None:
    """Invariant 7: every crash leaves it undone, or promised."""
    template, place, through = world.template(three_steps()), 0, False
    while not through:
        place += 1
        dataset = await world.input(f"d{place}")
        chain = await world.new_chain(dataset, template)
        await world.start_steps()
        await world.deliver()

        async def delete() -> None:
            await world.chains.delete_dataset(dataset.uid, force=True)  # noqa: B023 - called at once

        through = await crash_at(world, place, delete)
        assert not await is_going(world, dataset), "its task has not stopped"
        if await world.rows("wfms.chains", "SELECT 1 FROM deletions"):
            with pytest.raises(Conflict, match="somebody asked for it"):
                await world.new_chain(dataset, template.model_copy(update={"version": 2}))
        else:
            assert (await world.chain(chain.uid)).reason == ""
            await delete()
        await crash_at(world, place, world.delete_asked)
        await world.delete_asked()
        assert (await world.chain(chain.uid)).reason.startswith("canceled because its data set")
        for _ in range(2):
            await world.stop_tasks()
            await world.follow()
        await crash_at(world, place, world.delete_asked)
        await world.delete_asked()
        assert (await world.chain(chain.uid)).state is ChainState.CANCELED
        assert await is_going(world, dataset)
        assert await world.rows("wfms.chains", "SELECT 1 FROM deletions") == []
    assert place > 10


async def test_an_output_on_its_way_is_awaited(world: World) -> None:
    dataset = await world.input("a")
    chain = await world.new_chain(dataset, world.template(plan(step("only"), outputs=[("only", "out")])))
    for crank in (world.start_steps, world.deliver, world.end_running_tasks, world.follow):
        await crank()
    assert (await world.chain(chain.uid)).state is ChainState.UPLOADING
    assert (await world.chains.delete_dataset(dataset.uid, force=True)).state is DatasetState.CLOSED
    for _ in range(2):
        await world.turn()
    assert (await world.chain(chain.uid)).state is ChainState.FINISHED
    assert await is_going(world, dataset)


async def test_a_chain_is_made_or_its_data_set_deleted_never_both(world: World) -> None:
    template, outcomes = world.template(three_steps()), set()
    for number in range(12):
        dataset = await world.input(f"d{number}")
        asks = [world.new_chain(dataset, template), world.chains.delete_dataset(dataset.uid)]
        answers = await asyncio.gather(*(asks if number % 2 else reversed(asks)), return_exceptions=True)
        assert [isinstance(one, Conflict) for one in answers].count(True) == 1, answers
        made = len((await world.chains.chains(dataset=dataset.uid)).chains)
        assert made + await is_going(world, dataset) == 1
        outcomes.add(made)
    assert outcomes == {0, 1}, "both were first now and then"


async def test_a_deletion_that_the_dms_refuses_is_forgotten(world: World) -> None:
    """It became an output between the question and the deletion."""
    dataset, template = await world.input("a"), world.template(three_steps())
    await world.rows("wfms.chains", "INSERT INTO deletions VALUES ($1, false, now()) RETURNING 1", dataset.uid)
    await world.rows("wfms.chains", "INSERT INTO inputs VALUES ($1, now()) RETURNING 1", dataset.uid)
    async with world.dms_database.connection() as connection:
        await connection.execute("UPDATE datasets SET type = 'output' WHERE uid = $1", dataset.uid)
    await world.delete_asked()
    assert await world.rows("wfms.chains", "SELECT 1 FROM deletions") == []
    assert (await world.new_chain(dataset, template)).state is ChainState.IN_PROGRESS
