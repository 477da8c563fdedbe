"""Outputs are collected in append-only data sets exactly once, despite crashes."""

import asyncio

import pytest

from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.wiring import make_context
from sluice.contracts.common.problems import Conflict, NotAvailable, Unprocessable
from sluice.contracts.common.states import ChainState, DatasetState
from sluice.contracts.data.append_only import Collect
from tests.integration.wfms.append_only.append_only_chains import (
    get_corpus,
    get_output_dataset,
    make_collecting_plan,
    run_chain,
    run_collected_chain,
)
from tests.integration.wfms.crashes import crash_at
from tests.integration.wfms.wfms_fixture import WfmsFixture


async def test_output_is_collected_when_the_chain_has_finished(wfms: WfmsFixture) -> None:
    chain = await run_collected_chain(wfms, "a")
    corpus_status = await get_corpus(wfms)
    (collection,) = chain.collected
    assert (collection.output, collection.name, collection.append_only, collection.files) == (
        "only_out",
        "corpus",
        corpus_status.dataset.uid,
        2,
    )
    await run_collected_chain(wfms, "b", files=3)
    assert (await get_corpus(wfms)).dataset.count_files == 5
    files = (await wfms.dms.list_files(corpus_status.dataset.uid)).files
    assert all("/output/" in file.url for file in files), (
        "the files are those of the output storage"
    )


async def test_crash_at_any_place_neither_loses_nor_duplicates_files(wfms: WfmsFixture) -> None:
    place, through = 0, False
    template = wfms.add_template(make_collecting_plan())
    while not through:
        place += 1
        await run_chain(
            wfms, await wfms.create_chain(await wfms.create_input(f"d{place}"), template), files=1
        )
        through = await crash_at(wfms, place, wfms.collect_outputs)
        await wfms.collect_outputs()
        assert (await get_corpus(wfms)).dataset.count_files == place, f"crash at place {place}"
    assert place > 5


async def test_concurrent_instances_collect_an_output_once(wfms: WfmsFixture) -> None:
    template = wfms.add_template(make_collecting_plan())
    for number in range(4):
        await run_chain(
            wfms, await wfms.create_chain(await wfms.create_input(f"d{number}"), template)
        )
    await asyncio.gather(*(wfms.collect_outputs() for _ in range(3)))
    assert (await get_corpus(wfms)).dataset.count_files == 8


async def test_discarded_output_is_deleted_only_after_its_collection(
    wfms: WfmsFixture,
) -> None:
    template = wfms.add_template(make_collecting_plan())
    chain = await run_chain(wfms, await wfms.create_chain(await wfms.create_input("a"), template))
    await wfms.chains.discard_chain(chain.uid)
    await wfms.delete_outputs()
    assert (await wfms.dms.get_dataset(get_output_dataset(chain))).state is DatasetState.UPLOADED
    wfms.http["dms"].is_down = True
    with pytest.raises(NotAvailable):
        await wfms.collect_outputs()
    wfms.http["dms"].is_down = False
    await wfms.collect_outputs()
    await wfms.delete_outputs()
    context = make_context(wfms.dms_settings, wfms.dms_database)
    while await delete_next_dataset(context):
        pass
    await context.files.stop()
    await context.reads.stop()
    assert (await wfms.dms.get_dataset(get_output_dataset(chain))).state is DatasetState.DELETED
    corpus_status = await get_corpus(wfms)
    assert corpus_status.dataset.count_files == 2
    for file in (await wfms.dms.list_files(corpus_status.dataset.uid)).files:
        assert await wfms.dms.read_part(corpus_status.dataset.uid, file.id, length=file.size)


async def test_output_of_an_already_discarded_chain_is_not_collected(wfms: WfmsFixture) -> None:
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_collecting_plan())
    )
    await wfms.chains.discard_chain(chain.uid)
    await run_chain(wfms, chain)
    await wfms.collect_outputs()
    assert await wfms.dms.list_append_only_datasets() == []
    assert (await wfms.get_chain(chain.uid)).collected == []


async def test_output_of_a_failed_chain_is_not_collected(wfms: WfmsFixture) -> None:
    wfms.wms.failing_tasks = "only"
    chain = await wfms.create_chain(
        await wfms.create_input("a"), wfms.add_template(make_collecting_plan())
    )
    for _ in range(3):
        await wfms.run_loops()
    assert (await wfms.get_chain(chain.uid)).state is ChainState.FAILED
    await wfms.collect_outputs()
    assert await wfms.dms.list_append_only_datasets() == []


async def test_refused_collection_is_reported_at_the_chain_and_not_retried(
    wfms: WfmsFixture,
) -> None:
    await run_collected_chain(wfms, "a")
    other = await run_collected_chain(
        wfms, "b", plan=make_collecting_plan(into=Collect(name="corpus", type="words"))
    )
    (collection,) = other.collected
    assert "of type 'pages'" in collection.reason
    assert collection.append_only is None
    await wfms.chains.discard_chain(other.uid)
    await wfms.delete_outputs()
    assert (await wfms.dms.get_dataset(get_output_dataset(other))).state is DatasetState.DELETING


async def test_append_only_data_set_cannot_be_the_input_of_a_chain(wfms: WfmsFixture) -> None:
    await run_collected_chain(wfms, "a")
    grown = (await get_corpus(wfms)).dataset
    with pytest.raises(Unprocessable, match="is append-only and cannot be a chain's input"):
        await wfms.create_chain(grown, wfms.add_template(make_collecting_plan(), name="other"))
    with pytest.raises(Conflict, match="append-only"):
        await wfms.chains.delete_dataset(grown.uid)
    assert await wfms.chains.delete_dataset(grown.uid, force=True)


async def test_each_group_collects_in_its_own_data_set(wfms: WfmsFixture) -> None:
    for number, group in enumerate(("ocr", "spd")):
        dataset = await wfms.create_input(f"d{number}", group=group)
        template = wfms.add_template(make_collecting_plan(), name=f"t{number}")
        request = wfms.make_request(dataset, template).model_copy(update={"group": group})
        await run_chain(wfms, await wfms.chains.create_chain(request))
    await wfms.collect_outputs()
    corpora = await wfms.dms.list_append_only_datasets()
    assert [(one.dataset.append_only, one.dataset.group) for one in corpora] == [
        ("corpus", "ocr"),
        ("corpus", "spd"),
    ]
