"""Data sets that grow: what is collected in them is there once, lives on with them, and is given to
each reader once."""

import asyncio
from uuid import UUID

import pytest

from dms.loops.workers import delete_once, sweep_once
from dms.usecases.close_dataset import close_complete
from dms.usecases.collect_files import collect_files
from dms.usecases.cut_slice import cut_slice
from sluice.contracts.append_only import Collect, CollectFiles, CutSlice
from sluice.contracts.append_only_list import AppendOnlyDataset
from sluice.contracts.datasets import NewDataset
from sluice.contracts.messages import DeleteDataset, RegisterFiles
from sluice.contracts.problems import Conflict, Unprocessable
from sluice.contracts.quotas import HolderKind
from sluice.contracts.states import DatasetState, DatasetType, StorageType
from tests.integration.dms.conftest import Dms


def into(name: str = "corpus", *, group: str = "everyone", type_: str = "pages") -> CollectFiles:
    return CollectFiles(into=Collect(name=name, type=type_), group=group)


def cut(reader: str = "train", *, after: int = 0, **more: object) -> CutSlice:
    return CutSlice.model_validate({"reader": reader, "after": after, **more})


async def collect(dms: Dms, *names: str, files: int = 2) -> list[UUID]:
    """Data sets with files, each collected in turn."""
    sources = []
    for name in names:
        uid, _ = await dms.filled(name, files)
        await dms.client.collect(uid, into())
        sources.append(uid)
    return sources


async def corpus(dms: Dms) -> AppendOnlyDataset:
    (found,) = await dms.client.standing()
    return found


async def cut_and_close(dms: Dms, asked: CutSlice) -> UUID | None:
    made = await dms.client.cut_slice((await corpus(dms)).dataset.uid, asked)
    await close_complete(dms.database)
    return made


async def names(dms: Dms, uid: UUID) -> list[str]:
    return [file.name for file in (await dms.client.files(uid)).files]


async def test_files_come_in_order_of_arrival_under_the_names_that_tools_gave(dms: Dms) -> None:
    await collect(dms, "b", "a")
    found = await corpus(dms)
    assert (found.dataset.standing, found.dataset.count_files, found.readers) == ("corpus", 4, [])
    files = (await dms.client.files(found.dataset.uid)).files
    assert [file.name for file in files] == [f"0000000{seq}.0-data.bin" for seq in range(4)]
    assert [file.url.split("/")[-2] for file in files] == ["b", "b", "a", "a"]
    standing = await dms.client.dataset(found.dataset.uid)
    assert (standing.standing, standing.state) == ("corpus", DatasetState.OPEN)
    assert standing.bytes == sum(file.size for file in files)


async def test_what_is_collected_twice_is_there_once(dms: Dms) -> None:
    (source,) = await collect(dms, "a")
    first = await dms.client.collect(source, into())
    await asyncio.gather(*(dms.client.collect(source, into()) for _ in range(5)))
    assert (await corpus(dms)).dataset.count_files == first.files == 2


async def test_two_instances_that_collect_at_once_number_files_one_by_one(dms: Dms) -> None:
    sources = [(await dms.filled(f"d{number}", 3))[0] for number in range(6)]
    await asyncio.gather(
        *(
            collect_files(context.database, uid, into())
            for uid in sources
            for context in (dms.context, dms.other_context)
        )
    )
    found = await corpus(dms)
    assert found.dataset.count_files == 18
    assert [file.seq for file in (await dms.client.files(found.dataset.uid)).files] == list(
        range(18)
    )


async def test_files_live_on_with_the_standing_one_and_go_with_it(dms: Dms) -> None:
    """Their own data set is deleted, and its folder looked through."""
    source, files = await dms.filled("a", 2)
    await dms.client.collect(source, into())
    await dms.apply(DeleteDataset(uid=source))
    assert await delete_once(dms.context)
    await dms.fetch("UPDATE datasets SET sweep_at = now() WHERE uid = $1", source)
    assert await sweep_once(dms.context)
    kept = [f"a/{file.name}" for file in files]
    assert dms.files_on(StorageType.INTERMEDIATE) == kept
    found = await corpus(dms)
    with pytest.raises(Conflict, match="standing"):
        await dms.client.delete_dataset(found.dataset.uid)
    with pytest.raises(Unprocessable, match="standing"):
        await dms.apply(DeleteDataset(uid=found.dataset.uid))
    await dms.client.delete_dataset(found.dataset.uid, force=True)
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == []


async def test_what_is_gone_is_not_collected(dms: Dms) -> None:
    source, _ = await dms.filled("a", 2)
    await dms.client.delete_dataset(source)
    with pytest.raises(Conflict, match="is deleting"):
        await dms.client.collect(source, into())
    opened, _ = await dms.filled("b", 2, close=False)
    with pytest.raises(Conflict, match="is open"):
        await dms.client.collect(opened, into())
    assert await dms.client.standing() == []


async def test_what_was_collected_and_is_gone_is_still_said_to_be_collected(dms: Dms) -> None:
    """The answer was lost, the source deleted, and so was where it went."""
    (source,) = await collect(dms, "a")
    first = await corpus(dms)
    await dms.client.delete_dataset(source)
    await dms.client.delete_dataset(first.dataset.uid, force=True)
    again = await dms.client.collect(source, into())
    assert (again.standing, again.files) == (first.dataset.uid, 2)
    assert await dms.client.standing() == []


async def test_each_group_has_its_own_of_a_name(dms: Dms) -> None:
    """The names of data sets are one namespace: the second is called otherwise, and a data set that
    somebody has called so stays what it is."""
    await dms.client.register_dataset(NewDataset(name="corpus"))
    source, _ = await dms.filled("a", 2)
    answers = [await dms.client.collect(source, into(group=group)) for group in ("ocr", "spd")]
    found = await dms.client.standing()
    assert [one.dataset.uid for one in found] == [answer.standing for answer in answers]
    assert [one.dataset.standing for one in found] == ["corpus", "corpus"]
    rows = [await dms.client.dataset(one.dataset.uid) for one in found]
    assert [(row.name, row.group) for row in rows] == [("corpus-2", "ocr"), ("corpus-3", "spd")]
    other, _ = await dms.filled("b", 2)
    with pytest.raises(Conflict, match="of type 'pages', and not 'words'"):
        await dms.client.collect(other, into(group="ocr", type_="words"))


async def test_a_slice_is_an_ordinary_closed_data_set_of_what_is_new(dms: Dms) -> None:
    await collect(dms, "a", "b")
    first = await cut_and_close(dms, cut())
    await collect(dms, "c")
    second = await cut_and_close(dms, cut(after=4))
    assert first is not None
    assert second is not None
    slices = await dms.client.datasets_of([first, second])
    assert [(one.name, one.count_files, one.state) for one in slices] == [
        ("corpus.train.1", 4, DatasetState.CLOSED),
        ("corpus.train.2", 2, DatasetState.CLOSED),
    ]
    assert [one.meta for one in slices] == [{"type": "pages"}] * 2
    assert [one.slice.number for one in slices if one.slice] == [1, 2]
    assert await names(dms, second) == ["00000004.0-data.bin", "00000005.0-data.bin"]
    (reader,) = (await corpus(dms)).readers
    assert (reader.name, reader.used, reader.slices, reader.last) == ("train", 6, 2, second)
    closed = (await dms.client.closed_datasets(type=DatasetType.INPUT)).datasets
    assert [one.uid for one in closed] == [first, second]


async def test_nothing_is_cut_where_nothing_is_new_or_somebody_was_faster(dms: Dms) -> None:
    await collect(dms, "a")
    assert await cut_and_close(dms, cut(after=1)) is None
    assert await cut_and_close(dms, cut()) is not None
    assert await cut_and_close(dms, cut()) is None
    assert await cut_and_close(dms, cut(after=2)) is None
    assert await cut_and_close(dms, cut("other")) is not None


async def test_of_two_that_cut_at_once_one_does(dms: Dms) -> None:
    await collect(dms, "a", "b")
    uid = (await corpus(dms)).dataset.uid
    answers = await asyncio.gather(
        *(
            cut_slice(context.database, uid, cut())
            for _ in range(4)
            for context in (dms.context, dms.other_context)
        )
    )
    assert len([answer for answer in answers if answer.dataset_uid is not None]) == 1


async def test_an_occasion_has_one_slice(dms: Dms) -> None:
    await collect(dms, "a")
    first = await cut_and_close(dms, cut(occasion="3:00"))
    await collect(dms, "b")
    assert await cut_and_close(dms, cut(after=2, occasion="3:00")) == first
    assert await cut_and_close(dms, cut(after=2, occasion="4:00")) != first


async def test_all_is_all_and_used_up_as_well(dms: Dms) -> None:
    await collect(dms, "a")
    await cut_and_close(dms, cut(all=True))
    await collect(dms, "b")
    again = await cut_and_close(dms, cut(after=2, all=True))
    assert again is not None
    assert (await dms.client.dataset(again)).count_files == 4
    assert (await corpus(dms)).new_to("train") == 0


async def test_a_slice_that_is_used_up_takes_no_file_with_it(dms: Dms) -> None:
    await collect(dms, "a")
    made = await cut_and_close(dms, cut())
    assert made is not None
    before = dms.files_on(StorageType.INTERMEDIATE)
    await dms.apply(DeleteDataset(uid=made))
    assert await delete_once(dms.context)
    assert dms.files_on(StorageType.INTERMEDIATE) == before
    assert (await dms.client.files((await corpus(dms)).dataset.uid)).files != []


async def test_a_standing_one_is_filled_by_nobody_and_never_closes(dms: Dms) -> None:
    await collect(dms, "a")
    uid = (await corpus(dms)).dataset.uid
    file = dms.write("z", 9)
    with pytest.raises(Conflict, match="no file can be added"):
        await dms.client.register_files(uid, [file])
    with pytest.raises(Unprocessable, match="no file can be added"):
        await dms.apply(RegisterFiles(dataset_uid=uid, files=[file]))
    with pytest.raises(Conflict, match="never closes"):
        await dms.client.close_dataset(uid)
    ordinary, _ = await dms.filled("b")
    with pytest.raises(Conflict, match="does not grow"):
        await dms.client.cut_slice(ordinary, cut())


async def test_what_is_in_slices_is_counted_once(dms: Dms) -> None:
    source, _ = await dms.filled("a", 2)
    await dms.client.collect(source, into(group="ocr"))
    before = await dms.client.holdings(HolderKind.GROUP, "ocr")
    await cut_and_close(dms, cut())
    assert await dms.client.holdings(HolderKind.GROUP, "ocr") == before


async def test_files_are_of_the_generation_of_the_slice_that_they_were_made_of(dms: Dms) -> None:
    """Whatever is collected behind them, and however often; a slice is one higher than its
    files."""
    await collect(dms, "people")
    made = await cut_and_close(dms, cut())
    source, _ = await dms.filled("first")
    await asyncio.gather(*(dms.client.collect(source, into(), made_of=made) for _ in range(3)))
    await collect(dms, "more")
    (told,) = await dms.client.standing(generations=True)
    assert (told.generation, told.readers[0].generation) == (1, 1)
    assert ((await corpus(dms)).generation, (await corpus(dms)).readers[0].generation) == (0, 0)
    second = await cut_and_close(dms, cut(after=2))
    (told,) = await dms.client.standing(generations=True)
    assert (told.generation, told.readers[0].generation) == (1, 0)
    other, _ = await dms.filled("second")
    await dms.client.collect(other, into(), made_of=second)
    (told,) = await dms.client.standing(generations=True)
    assert (told.generation, told.readers[0].generation) == (2, 2)


async def test_a_slice_of_all_is_higher_than_all_and_no_files_have_no_generation(dms: Dms) -> None:
    await collect(dms, "people")
    made = await cut_and_close(dms, cut())
    empty, _ = await dms.filled("empty", 0)
    await dms.client.collect(empty, into(), made_of=made)
    source, _ = await dms.filled("first")
    await dms.client.collect(source, into(name="other"), made_of=made)
    assert [one.generation for one in await dms.client.standing(generations=True)] == [0, 1]
    await dms.client.collect((await dms.filled("next"))[0], into(), made_of=made)
    uid = (await dms.client.standing())[0].dataset.uid
    await dms.client.cut_slice(uid, cut(after=2))
    await collect(dms, "more")
    assert (await _slice_of_all(dms)) == 2


async def _slice_of_all(dms: Dms) -> int:
    """The generation of a slice of all, the reader having been given what is of a generation."""
    standing = (await dms.client.standing())[0]
    used = standing.used_by("train")
    made = await dms.client.cut_slice(standing.dataset.uid, cut(after=used, all=True))
    (row,) = await dms.fetch("SELECT generation FROM slices WHERE dataset_uid = $1", made)
    return int(row["generation"])
