"""URLs that lead out of the storages are refused over REST and by message."""

from pathlib import Path
from typing import Any

import pytest

from sluice.contracts.common.problems import Unprocessable
from sluice.contracts.common.states import DatasetType, StorageType
from sluice.contracts.data.datasets import NewDataset, NewFile, NewStorage
from sluice.contracts.messaging.messages import RegisterFiles
from tests.integration.dms.conftest import Dms

REFUSED_FILE_URLS = [
    "{root}/%2e%2e/elsewhere/f",
    "{root}/a/%252e%252e/f",
    "{root}-2/f",
    "{root}",
    "file:///etc/passwd",
    "s3://bucket/f",
    "{root}/x::http://elsewhere/f",
    "{root}//f",
]


async def test_file_outside_the_storages_is_refused_by_name(
    dms: Dms, subtests: pytest.Subtests
) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    for url in REFUSED_FILE_URLS:
        named = url.format(root=dms.storages[StorageType.INTERMEDIATE].url)
        astray = file.model_copy(update={"url": named, "name": "astray"})
        with subtests.test(url=url):
            with pytest.raises(Unprocessable, match=r"file 'astray': "):
                await dms.client.register_many_files(uid, [file, astray])
            with pytest.raises(Unprocessable, match=r"file 'astray': "):
                await dms.apply(RegisterFiles(dataset_uid=uid, files=[file, astray]))
    assert (await dms.client.get_dataset(uid)).count_files == 0


async def test_url_with_dot_segments_is_invalid(dms: Dms) -> None:
    file: dict[str, Any] = dms.write("frames", 1).model_dump()
    with pytest.raises(ValueError, match=r"leaves its folder with '\.\.'"):
        NewFile(**{**file, "url": dms.storages[StorageType.INPUT].url + "/../x"})


async def test_link_out_of_the_storage_is_refused_for_files_and_folders(
    dms: Dms, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "f").write_text("secret")
    (dms.folder / "intermediate" / "way-out").symlink_to(tmp_path / "elsewhere")
    uid = await dms.dataset("frames")
    url = dms.storages[StorageType.INTERMEDIATE].url + "/way-out"
    file = dms.write("frames", 1).model_copy(update={"url": f"{url}/f"})
    with pytest.raises(Unprocessable, match="leads out of storage 'intermediate-1' by a link"):
        await dms.client.register_many_files(uid, [file])
    with pytest.raises(Unprocessable, match="leads out of storage 'intermediate-1' by a link"):
        await dms.client.register_dataset(
            NewDataset(name="astray", type=DatasetType.LOGS, url=f"{url}/x")
        )


async def test_disabled_storage_takes_no_new_data_sets_and_files(dms: Dms) -> None:
    uid = await dms.dataset("frames")
    file = dms.write("frames", 1)
    await dms.fetch("UPDATE storages SET enabled = false WHERE type = 'intermediate'")
    with pytest.raises(Unprocessable, match="is not in a registered, enabled storage"):
        await dms.client.register_many_files(uid, [file])
    with pytest.raises(Unprocessable, match="is not in a registered, enabled storage"):
        await dms.dataset("more")
    # Files that pilots wrote before must not be lost.
    await dms.apply(RegisterFiles(dataset_uid=uid, files=[file]))
    assert (await dms.client.get_dataset(uid)).count_files == 1


async def test_only_an_input_data_set_may_be_a_whole_storage(dms: Dms) -> None:
    url = dms.storages[StorageType.INPUT].url
    assert (await dms.client.register_dataset(NewDataset(name="all", url=url))).url == url
    with pytest.raises(Unprocessable, match="is the folder of a storage itself"):
        await dms.client.register_dataset(NewDataset(name="logs", type=DatasetType.LOGS, url=url))


async def test_folder_url_without_space_for_file_names_is_refused(dms: Dms) -> None:
    url = dms.storages[StorageType.INPUT].url + "/ab" * 1_330
    with pytest.raises(Unprocessable, match="leaves no space for the names of files"):
        await dms.client.register_dataset(NewDataset(name="deep", url=url[:3_900]))
    with pytest.raises(Unprocessable, match="leaves no space for data sets and files"):
        await dms.client.register_storage(
            NewStorage(name="deep", type=StorageType.INPUT, url=url[:3_800])
        )
