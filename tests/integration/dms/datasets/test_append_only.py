"""Append-only data sets collect files once and give them to each trigger in slices."""

import asyncio
from uuid import UUID

import pytest

from dms.usecases.append_only.collect_files import collect_files
from dms.usecases.append_only.cut_slice import cut_slice
from dms.usecases.datasets.close_complete_datasets import close_complete_datasets
from dms.usecases.removal.delete_next_dataset import delete_next_dataset
from dms.usecases.removal.sweep_next_folder import sweep_next_folder
from sluice.contracts.access.quotas import HolderKind
from sluice.contracts.common.problems import Conflict, Unprocessable
from sluice.contracts.common.states import DatasetState, DatasetType, StorageType
from sluice.contracts.data.append_only import Collect, CollectFiles, CutSlice
from sluice.contracts.data.append_only_list import AppendOnlyDataset
from sluice.contracts.data.datasets import NewDataset
from sluice.contracts.messaging.messages import DeleteDataset, RegisterFiles
from tests.integration.dms.conftest import Dms


def collect_request(
    name: str = "corpus", *, group: str = "everyone", type_: str = "pages"
) -> CollectFiles:
    return CollectFiles(into=Collect(name=name, type=type_), group=group)


def cut_request(reader: str = "train", *, after: int = 0, **more: object) -> CutSlice:
    return CutSlice.model_validate({"reader": reader, "after": after, **more})


async def collect(dms: Dms, *names: str, files: int = 2) -> list[UUID]:
    """Fill data sets and collect them one after the other."""
    sources = []
    for name in names:
        uid, _ = await dms.create_filled_dataset(name, files)
        await dms.client.collect_files(uid, collect_request())
        sources.append(uid)
    return sources


async def find_corpus(dms: Dms) -> AppendOnlyDataset:
    (corpus,) = await dms.client.list_append_only_datasets()
    return corpus


async def cut_and_close(dms: Dms, request: CutSlice) -> UUID | None:
    dataset_uid = await dms.client.cut_slice((await find_corpus(dms)).dataset.uid, request)
    await close_complete_datasets(dms.database)
    return dataset_uid


async def list_file_names(dms: Dms, uid: UUID) -> list[str]:
    return [file.name for file in (await dms.client.list_files(uid)).files]


async def test_collected_files_are_in_order_of_arrival_under_their_tool_names(dms: Dms) -> None:
    await collect(dms, "b", "a")
    corpus = await find_corpus(dms)
    assert (corpus.dataset.append_only, corpus.dataset.count_files, corpus.readers) == (
        "corpus",
        4,
        [],
    )
    files = (await dms.client.list_files(corpus.dataset.uid)).files
    assert [file.name for file in files] == [f"0000000{seq}.0-data.bin" for seq in range(4)]
    assert [file.url.split("/")[-2] for file in files] == ["b", "b", "a", "a"]
    grown = await dms.client.get_dataset(corpus.dataset.uid)
    assert (grown.append_only, grown.state) == ("corpus", DatasetState.OPEN)
    assert grown.bytes == sum(file.size for file in files)


async def test_data_set_collected_twice_is_added_once(dms: Dms) -> None:
    (source,) = await collect(dms, "a")
    first = await dms.client.collect_files(source, collect_request())
    await asyncio.gather(*(dms.client.collect_files(source, collect_request()) for _ in range(5)))
    assert (await find_corpus(dms)).dataset.count_files == first.files == 2


async def test_concurrent_collection_numbers_files_consecutively(dms: Dms) -> None:
    sources = [(await dms.create_filled_dataset(f"d{number}", 3))[0] for number in range(6)]
    await asyncio.gather(
        *(
            collect_files(context.database, uid, collect_request())
            for uid in sources
            for context in (dms.context, dms.other_context)
        )
    )
    corpus = await find_corpus(dms)
    assert corpus.dataset.count_files == 18
    assert [file.seq for file in (await dms.client.list_files(corpus.dataset.uid)).files] == list(
        range(18)
    )


async def test_collected_files_outlive_their_source_data_set(dms: Dms) -> None:
    """The source data set is deleted, and its folder is swept."""
    source, files = await dms.create_filled_dataset("a", 2)
    await dms.client.collect_files(source, collect_request())
    await dms.apply(DeleteDataset(uid=source))
    assert await delete_next_dataset(dms.context)
    await dms.fetch("UPDATE datasets SET sweep_at = now() WHERE uid = $1", source)
    assert await sweep_next_folder(dms.context)
    names = [f"a/{file.name}" for file in files]
    assert dms.files_on(StorageType.INTERMEDIATE) == names
    corpus = await find_corpus(dms)
    with pytest.raises(Conflict, match="append-only"):
        await dms.client.delete_dataset(corpus.dataset.uid)
    with pytest.raises(Unprocessable, match="append-only"):
        await dms.apply(DeleteDataset(uid=corpus.dataset.uid))
    await dms.client.delete_dataset(corpus.dataset.uid, force=True)
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_open_or_deleted_data_set_is_not_collected(dms: Dms) -> None:
    source, _ = await dms.create_filled_dataset("a", 2)
    await dms.client.delete_dataset(source)
    with pytest.raises(Conflict, match="is deleting"):
        await dms.client.collect_files(source, collect_request())
    opened, _ = await dms.create_filled_dataset("b", 2, close=False)
    with pytest.raises(Conflict, match="is open"):
        await dms.client.collect_files(opened, collect_request())
    assert await dms.client.list_append_only_datasets() == []


async def test_repeated_collection_of_deleted_data_sets_gets_the_first_answer(dms: Dms) -> None:
    """The first answer was lost, and both data sets were deleted meanwhile."""
    (source,) = await collect(dms, "a")
    first = await find_corpus(dms)
    await dms.client.delete_dataset(source)
    await dms.client.delete_dataset(first.dataset.uid, force=True)
    again = await dms.client.collect_files(source, collect_request())
    assert (again.append_only, again.files) == (first.dataset.uid, 2)
    assert await dms.client.list_append_only_datasets() == []


async def test_each_group_has_its_own_append_only_data_set_of_a_name(dms: Dms) -> None:
    """Names of data sets are unique, so the data sets get numbered names."""
    await dms.client.register_dataset(NewDataset(name="corpus"))
    source, _ = await dms.create_filled_dataset("a", 2)
    answers = [
        await dms.client.collect_files(source, collect_request(group=group))
        for group in ("ocr", "spd")
    ]
    corpora = await dms.client.list_append_only_datasets()
    assert [one.dataset.uid for one in corpora] == [answer.append_only for answer in answers]
    assert [one.dataset.append_only for one in corpora] == ["corpus", "corpus"]
    rows = [await dms.client.get_dataset(one.dataset.uid) for one in corpora]
    assert [(row.name, row.group) for row in rows] == [("corpus-2", "ocr"), ("corpus-3", "spd")]
    other, _ = await dms.create_filled_dataset("b", 2)
    with pytest.raises(Conflict, match="of type 'pages', and not 'words'"):
        await dms.client.collect_files(other, collect_request(group="ocr", type_="words"))


async def test_slice_is_a_closed_data_set_of_the_new_files(dms: Dms) -> None:
    await collect(dms, "a", "b")
    first = await cut_and_close(dms, cut_request())
    await collect(dms, "c")
    second = await cut_and_close(dms, cut_request(after=4))
    assert first is not None
    assert second is not None
    slices = await dms.client.list_datasets_by_uid([first, second])
    assert [(one.name, one.count_files, one.state) for one in slices] == [
        ("corpus.train.1", 4, DatasetState.CLOSED),
        ("corpus.train.2", 2, DatasetState.CLOSED),
    ]
    assert [one.meta for one in slices] == [{"type": "pages"}] * 2
    assert [one.slice.number for one in slices if one.slice] == [1, 2]
    assert await list_file_names(dms, second) == ["00000004.0-data.bin", "00000005.0-data.bin"]
    (reader,) = (await find_corpus(dms)).readers
    assert (reader.name, reader.used, reader.slices, reader.last) == ("train", 6, 2, second)
    closed = (await dms.client.list_closed_datasets(type=DatasetType.INPUT)).datasets
    assert [one.uid for one in closed] == [first, second]


async def test_no_slice_is_cut_without_new_files_or_after_another_cut(dms: Dms) -> None:
    await collect(dms, "a")
    assert await cut_and_close(dms, cut_request(after=1)) is None
    assert await cut_and_close(dms, cut_request()) is not None
    assert await cut_and_close(dms, cut_request()) is None
    assert await cut_and_close(dms, cut_request(after=2)) is None
    assert await cut_and_close(dms, cut_request("other")) is not None


async def test_concurrent_cuts_make_only_one_slice(dms: Dms) -> None:
    await collect(dms, "a", "b")
    uid = (await find_corpus(dms)).dataset.uid
    answers = await asyncio.gather(
        *(
            cut_slice(context.database, uid, cut_request())
            for _ in range(4)
            for context in (dms.context, dms.other_context)
        )
    )
    assert len([answer for answer in answers if answer.dataset_uid is not None]) == 1


async def test_repeated_cut_for_an_occasion_returns_the_same_slice(dms: Dms) -> None:
    await collect(dms, "a")
    first = await cut_and_close(dms, cut_request(occasion="3:00"))
    await collect(dms, "b")
    assert await cut_and_close(dms, cut_request(after=2, occasion="3:00")) == first
    assert await cut_and_close(dms, cut_request(after=2, occasion="4:00")) != first


async def test_slice_of_all_files_contains_used_files_and_uses_up_new_files(dms: Dms) -> None:
    await collect(dms, "a")
    await cut_and_close(dms, cut_request(all=True))
    await collect(dms, "b")
    again = await cut_and_close(dms, cut_request(after=2, all=True))
    assert again is not None
    assert (await dms.client.get_dataset(again)).count_files == 4
    assert (await find_corpus(dms)).new_to("train") == 0


async def test_deletion_of_a_slice_keeps_the_collected_files(dms: Dms) -> None:
    await collect(dms, "a")
    slice_uid = await cut_and_close(dms, cut_request())
    assert slice_uid is not None
    before = dms.files_on(StorageType.INTERMEDIATE)
    await dms.apply(DeleteDataset(uid=slice_uid))
    assert await delete_next_dataset(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == before
    assert (await dms.client.list_files((await find_corpus(dms)).dataset.uid)).files != []


async def test_append_only_data_set_refuses_files_and_never_closes(dms: Dms) -> None:
    await collect(dms, "a")
    uid = (await find_corpus(dms)).dataset.uid
    file = dms.write("z", 9)
    with pytest.raises(Conflict, match="no file can be added"):
        await dms.client.register_many_files(uid, [file])
    with pytest.raises(Unprocessable, match="no file can be added"):
        await dms.apply(RegisterFiles(dataset_uid=uid, files=[file]))
    with pytest.raises(Conflict, match="never closes"):
        await dms.client.close_dataset(uid)
    ordinary, _ = await dms.create_filled_dataset("b")
    with pytest.raises(Conflict, match="is not append-only"):
        await dms.client.cut_slice(ordinary, cut_request())


async def test_files_in_slices_count_once_in_quotas(dms: Dms) -> None:
    source, _ = await dms.create_filled_dataset("a", 2)
    await dms.client.collect_files(source, collect_request(group="ocr"))
    before = await dms.client.list_holdings(HolderKind.GROUP, name="ocr")
    await cut_and_close(dms, cut_request())
    assert await dms.client.list_holdings(HolderKind.GROUP, name="ocr") == before


async def test_collected_files_have_the_generation_of_their_slice(dms: Dms) -> None:
    """The generation of a slice is one higher than that of its files."""
    await collect(dms, "people")
    slice_uid = await cut_and_close(dms, cut_request())
    source, _ = await dms.create_filled_dataset("first")
    await asyncio.gather(
        *(dms.client.collect_files(source, collect_request(), made_of=slice_uid) for _ in range(3))
    )
    await collect(dms, "more")
    (corpus,) = await dms.client.list_append_only_datasets(generations=True)
    assert (corpus.generation, corpus.readers[0].generation) == (1, 1)
    assert (
        (await find_corpus(dms)).generation,
        (await find_corpus(dms)).readers[0].generation,
    ) == (0, 0)
    second = await cut_and_close(dms, cut_request(after=2))
    (corpus,) = await dms.client.list_append_only_datasets(generations=True)
    assert (corpus.generation, corpus.readers[0].generation) == (1, 0)
    other, _ = await dms.create_filled_dataset("second")
    await dms.client.collect_files(other, collect_request(), made_of=second)
    (corpus,) = await dms.client.list_append_only_datasets(generations=True)
    assert (corpus.generation, corpus.readers[0].generation) == (2, 2)


async def test_slice_of_all_files_has_a_generation_above_its_files(dms: Dms) -> None:
    await collect(dms, "people")
    slice_uid = await cut_and_close(dms, cut_request())
    empty, _ = await dms.create_filled_dataset("empty", 0)
    await dms.client.collect_files(empty, collect_request(), made_of=slice_uid)
    source, _ = await dms.create_filled_dataset("first")
    await dms.client.collect_files(source, collect_request(name="other"), made_of=slice_uid)
    assert [
        one.generation for one in await dms.client.list_append_only_datasets(generations=True)
    ] == [
        0,
        1,
    ]
    await dms.client.collect_files(
        (await dms.create_filled_dataset("next"))[0], collect_request(), made_of=slice_uid
    )
    uid = (await dms.client.list_append_only_datasets())[0].dataset.uid
    await dms.client.cut_slice(uid, cut_request(after=2))
    await collect(dms, "more")
    assert (await _cut_slice_of_all(dms)) == 2


async def _cut_slice_of_all(dms: Dms) -> int:
    """Cut a slice of all files and return its generation."""
    corpus = (await dms.client.list_append_only_datasets())[0]
    used = corpus.used_by("train")
    slice_uid = await dms.client.cut_slice(corpus.dataset.uid, cut_request(after=used, all=True))
    (row,) = await dms.fetch("SELECT generation FROM slices WHERE dataset_uid = $1", slice_uid)
    return int(row["generation"])
