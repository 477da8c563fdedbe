"""Outputs are collected in append-only data sets exactly once, despite crashes."""

import asyncio

import pytest

from dms.loops import delete_once
from dms.wiring import make_context
from sluice.contracts.common.problems import Conflict, NotAvailable, Unprocessable
from sluice.contracts.common.states import ChainState, DatasetState
from sluice.contracts.data.append_only import Collect
from tests.integration.wfms.growing import carry, collect, collecting, corpus, output_of
from tests.integration.wfms.test_crashes import crash_at
from tests.integration.wfms.world import World


async def test_output_is_collected_when_the_chain_has_finished(world: World) -> None:
    chain = await collect(world, "a")
    corpus_status = await corpus(world)
    (collection,) = chain.collected
    assert (collection.output, collection.name, collection.append_only, collection.files) == (
        "only_out",
        "corpus",
        corpus_status.dataset.uid,
        2,
    )
    await collect(world, "b", files=3)
    assert (await corpus(world)).dataset.count_files == 5
    files = (await world.dms.list_files(corpus_status.dataset.uid)).files
    assert all("/output/" in file.url for file in files), (
        "the files are those of the output storage"
    )


async def test_crash_at_any_place_neither_loses_nor_duplicates_files(world: World) -> None:
    place, through = 0, False
    template = world.template(collecting())
    while not through:
        place += 1
        await carry(world, await world.new_chain(await world.input(f"d{place}"), template), files=1)
        through = await crash_at(world, place, world.collect_outputs)
        await world.collect_outputs()
        assert (await corpus(world)).dataset.count_files == place, f"crash at place {place}"
    assert place > 5


async def test_concurrent_instances_collect_an_output_once(world: World) -> None:
    template = world.template(collecting())
    for number in range(4):
        await carry(world, await world.new_chain(await world.input(f"d{number}"), template))
    await asyncio.gather(*(world.collect_outputs() for _ in range(3)))
    assert (await corpus(world)).dataset.count_files == 8


async def test_discarded_output_is_deleted_only_after_its_collection(
    world: World,
) -> None:
    template = world.template(collecting())
    chain = await carry(world, await world.new_chain(await world.input("a"), template))
    await world.chains.discard_chain(chain.uid)
    await world.delete_outputs()
    assert (await world.dms.get_dataset(output_of(chain))).state is DatasetState.UPLOADED
    world.http["dms"].down = True
    with pytest.raises(NotAvailable):
        await world.collect_outputs()
    world.http["dms"].down = False
    await world.collect_outputs()
    await world.delete_outputs()
    context = make_context(world.dms_settings, world.dms_database)
    while await delete_once(context):
        pass
    await context.files.stop()
    await context.reads.stop()
    assert (await world.dms.get_dataset(output_of(chain))).state is DatasetState.DELETED
    corpus_status = await corpus(world)
    assert corpus_status.dataset.count_files == 2
    for file in (await world.dms.list_files(corpus_status.dataset.uid)).files:
        assert await world.dms.read_part(corpus_status.dataset.uid, file.id, length=file.size)


async def test_output_of_an_already_discarded_chain_is_not_collected(world: World) -> None:
    chain = await world.new_chain(await world.input("a"), world.template(collecting()))
    await world.chains.discard_chain(chain.uid)
    await carry(world, chain)
    await world.collect_outputs()
    assert await world.dms.list_append_only_datasets() == []
    assert (await world.chain(chain.uid)).collected == []


async def test_output_of_a_failed_chain_is_not_collected(world: World) -> None:
    world.wms.failing = "only"
    chain = await world.new_chain(await world.input("a"), world.template(collecting()))
    for _ in range(3):
        await world.turn()
    assert (await world.chain(chain.uid)).state is ChainState.FAILED
    await world.collect_outputs()
    assert await world.dms.list_append_only_datasets() == []


async def test_refused_collection_is_reported_at_the_chain_and_not_retried(
    world: World,
) -> None:
    await collect(world, "a")
    other = await collect(world, "b", plan=collecting(into=Collect(name="corpus", type="words")))
    (collection,) = other.collected
    assert "of type 'pages'" in collection.reason
    assert collection.append_only is None
    await world.chains.discard_chain(other.uid)
    await world.delete_outputs()
    assert (await world.dms.get_dataset(output_of(other))).state is DatasetState.DELETING


async def test_append_only_data_set_cannot_be_the_input_of_a_chain(world: World) -> None:
    await collect(world, "a")
    grown = (await corpus(world)).dataset
    with pytest.raises(Unprocessable, match="is append-only: it grows, and is not a chain's input"):
        await world.new_chain(grown, world.template(collecting(), name="other"))
    with pytest.raises(Conflict, match="append-only"):
        await world.chains.delete_dataset(grown.uid)
    assert await world.chains.delete_dataset(grown.uid, force=True)


async def test_each_group_collects_in_its_own_data_set(world: World) -> None:
    for number, group in enumerate(("ocr", "spd")):
        dataset = await world.input(f"d{number}", group=group)
        template = world.template(collecting(), name=f"t{number}")
        request = world.request(dataset, template).model_copy(update={"group": group})
        await carry(world, await world.chains.create_chain(request))
    await world.collect_outputs()
    corpora = await world.dms.list_append_only_datasets()
    assert [(one.dataset.append_only, one.dataset.group) for one in corpora] == [
        ("corpus", "ocr"),
        ("corpus", "spd"),
    ]
