"""Tests that only files of registered storages are removed, whatever journals and reports name.

Invariant 4: nothing outside the root of a storage is touched."""

from pathlib import Path

import pytest

from pilot.reports.file_remover import FileRemover
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.pilots.output_files import StorageUrls
from tests.unit.pilot.builders import make_file_remover


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """Return a storage with a file in a folder."""
    (tmp_path / "store" / "set").mkdir(parents=True)
    (tmp_path / "store" / "set" / "left").touch()
    return tmp_path / "store"


@pytest.fixture
def foreign_file(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "precious"
    path.parent.mkdir()
    path.touch()
    return path


async def test_files_of_registered_storages_are_removed(storage: Path) -> None:
    assert await make_file_remover(storage).remove(
        [f"file://{storage}/set/left", f"file://{storage}/set/gone"]
    )
    assert list((storage / "set").iterdir()) == []


@pytest.mark.parametrize(
    "url",
    [
        "file://{precious}",
        "file://localhost{precious}",
        "file://{store}/../home/precious",
        "file://{store}/set/../../home/precious",
        "file://{store}/door/precious",
        "file://{store}/%2e%2e/home/precious",
    ],
)
async def test_files_outside_registered_storages_are_not_removed(
    storage: Path, foreign_file: Path, url: str
) -> None:
    (storage / "door").symlink_to(foreign_file.parent)
    assert await make_file_remover(storage).remove(
        [url.format(store=storage, precious=foreign_file), f"file://{storage}/set/left"]
    )
    assert list(foreign_file.parent.iterdir()) == [foreign_file]
    assert list((storage / "set").iterdir()) == []


async def test_files_of_a_storage_that_is_registered_later_are_removed(storage: Path) -> None:
    urls: list[str] = []

    async def list_storages() -> StorageUrls:
        return StorageUrls(urls=urls)

    file_remover = FileRemover(list_storages)
    url = f"file://{storage}/set/left"
    await file_remover.remove([url])
    assert (storage / "set" / "left").exists()
    urls.append(f"file://{storage}")
    await file_remover.remove([url])
    assert not (storage / "set" / "left").exists()


async def test_no_file_is_removed_if_the_list_of_storages_is_unavailable(storage: Path) -> None:
    async def list_storages() -> StorageUrls:
        raise NotAvailable("the DMS is away")

    assert not await FileRemover(list_storages).remove([f"file://{storage}/set/left"])
    assert (storage / "set" / "left").exists()


async def test_file_behind_a_link_does_not_block_files_of_a_new_storage(
    storage: Path, tmp_path: Path
) -> None:
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "left").touch()
    (storage / "door").symlink_to("set")
    urls = [f"file://{storage}"]

    async def list_storages() -> StorageUrls:
        return StorageUrls(urls=urls)

    file_remover = FileRemover(list_storages)
    assert await file_remover.remove([f"file://{storage}/set/gone"])
    urls.append(f"file://{tmp_path}/later")
    assert await file_remover.remove(
        [f"file://{storage}/door/left", f"file://{tmp_path}/later/left"]
    )
    assert (storage / "set" / "left").exists()
    assert not (tmp_path / "later" / "left").exists()
