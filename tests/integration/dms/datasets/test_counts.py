"""Counts that jobs report are summed once per file into the metadata of a closed data set."""

from dms.db.storages import fold_usage
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.counts import COUNTS, MAX_SUM
from sluice.contracts.data.datasets import NewFile
from sluice.contracts.messaging.messages import RegisterFiles
from sluice.contracts.templates.matching import facts_of
from tests.integration.dms.conftest import Dms


def add_counts(file: NewFile, **counts: object) -> NewFile:
    return file.model_copy(update={"meta": {**file.meta, COUNTS: counts}})


async def test_counts_of_each_file_are_added_once_despite_repeated_registration(dms: Dms) -> None:
    uid = await dms.dataset("out", meta={"run": 7})
    files = [add_counts(dms.write("out", seq), events=10**seq, tracks=2) for seq in range(3)]
    late = RegisterFiles(dataset_uid=uid, files=files[:2])
    for message in (late, late, RegisterFiles(dataset_uid=uid, files=files)):
        await dms.apply(message)
    await dms.client.register_many_files(
        uid, [*files, add_counts(dms.write("out", 3), events=5), dms.write("out", 4)]
    )
    assert "produced" not in (await dms.client.get_dataset(uid)).meta, (
        "counts were shown before the data set closed"
    )
    await dms.apply(RegisterFiles(dataset_uid=uid, close_at=5))
    dataset = await dms.client.get_dataset(uid)
    assert dataset.meta == {
        "run": 7,
        "produced": {"files": 5, "bytes": dataset.bytes, "events": 116, "tracks": 6},
    }
    assert facts_of(dataset)["produced.events"] == 116
    await dms.client.register_many_files(uid, files)
    assert (await dms.client.get_dataset(uid)).meta == dataset.meta


async def test_invalid_counts_are_ignored_and_inputs_and_logs_get_no_counts(
    dms: Dms,
) -> None:
    uid = await dms.dataset("odd")
    files = [
        add_counts(dms.write("odd", 0), events="many"),
        add_counts(dms.write("odd", 1), events=-1),
    ]
    await dms.client.register_many_files(uid, [*files, add_counts(dms.write("odd", 2), events=4)])
    await dms.client.close_dataset(uid)
    assert (await dms.client.get_dataset(uid)).meta["produced"]["events"] == 4
    for kind in (DatasetType.INPUT, DatasetType.LOGS):
        other, _ = await dms.create_filled_dataset(f"plain-{kind}", 1, kind, meta={"run": 7})
        assert (await dms.client.get_dataset(other)).meta == {"run": 7}
    empty = await dms.dataset("empty")
    await dms.client.close_dataset(empty)
    assert (await dms.client.get_dataset(empty)).meta == {"produced": {"files": 0, "bytes": 0}}


async def test_sum_of_counts_that_overflows_loses_no_file(dms: Dms) -> None:
    """2050 files with the largest count exceed the range of a database column."""
    uid = await dms.dataset("huge")
    one = add_counts(dms.write("huge", 0), events=2**53 - 1, runs=1)
    files = [
        one.model_copy(update={"seq": seq, "name": f"f{seq}", "url": f"{one.url}-{seq}"})
        for seq in range(2050)
    ]
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[:1000]))
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[1000:], close_at=len(files)))
    dataset = await dms.client.get_dataset(uid)
    assert dataset.count_files == 2050
    assert dataset.meta["produced"] == {
        "files": 2050,
        "bytes": dataset.bytes,
        "events": MAX_SUM,
        "runs": 2050,
    }


async def test_sum_of_sizes_that_overflows_loses_no_file_and_hides_no_storage(dms: Dms) -> None:
    """Sparse files and files on storages without checks may have such sizes."""
    uid = await dms.dataset("holes")
    one = dms.write("holes", 0)
    files = [
        one.model_copy(
            update={"seq": seq, "name": f"f{seq}", "url": f"{one.url}-{seq}", "size": 2**62}
        )
        for seq in range(5)
    ]
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[:3]))
    await dms.apply(RegisterFiles(dataset_uid=uid, files=files[3:], close_at=len(files)))
    dataset = await dms.client.get_dataset(uid)
    assert (dataset.count_files, dataset.bytes) == (5, MAX_SUM)
    assert dataset.meta["produced"] == {"files": 5, "bytes": MAX_SUM}
    assert MAX_SUM in [storage.used for storage in await dms.client.list_storages()]
    async with dms.database.connection() as connection:
        await fold_usage(connection, more_than=0)
    assert MAX_SUM in [storage.used for storage in await dms.client.list_storages()]
