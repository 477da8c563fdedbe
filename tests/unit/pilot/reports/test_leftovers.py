"""Tests that only files of registered storages are removed, whatever journals and reports name.

Invariant 4: nothing outside the root of a storage is touched."""

from pathlib import Path

import pytest

from pilot.reports.file_remover import FileRemover
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.pilots.pilots import StorageUrls
from tests.unit.pilot.builders import leftovers


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a storage with a file in a folder."""
    (tmp_path / "store" / "set").mkdir(parents=True)
    (tmp_path / "store" / "set" / "left").touch()
    return tmp_path / "store"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "precious"
    path.parent.mkdir()
    path.touch()
    return path


async def test_files_of_registered_storages_are_removed(store: Path) -> None:
    assert await leftovers(store).remove([f"file://{store}/set/left", f"file://{store}/set/gone"])
    assert list((store / "set").iterdir()) == []


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
    store: Path, precious: Path, url: str
) -> None:
    (store / "door").symlink_to(precious.parent)
    assert await leftovers(store).remove(
        [url.format(store=store, precious=precious), f"file://{store}/set/left"]
    )
    assert list(precious.parent.iterdir()) == [precious]
    assert list((store / "set").iterdir()) == []


async def test_files_of_a_storage_that_is_registered_later_are_removed(store: Path) -> None:
    urls: list[str] = []

    async def ask() -> StorageUrls:
        return StorageUrls(urls=urls)

    removing = FileRemover(ask)
    url = f"file://{store}/set/left"
    await removing.remove([url])
    assert (store / "set" / "left").exists()
    urls.append(f"file://{store}")
    await removing.remove([url])
    assert not (store / "set" / "left").exists()


async def test_no_file_is_removed_if_the_list_of_storages_is_unavailable(store: Path) -> None:
    async def ask() -> StorageUrls:
        raise NotAvailable("the DMS is away")

    assert not await FileRemover(ask).remove([f"file://{store}/set/left"])
    assert (store / "set" / "left").exists()


async def test_file_behind_a_link_does_not_block_files_of_a_new_storage(
    store: Path, tmp_path: Path
) -> None:
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "left").touch()
    (store / "door").symlink_to("set")
    urls = [f"file://{store}"]

    async def ask() -> StorageUrls:
        return StorageUrls(urls=urls)

    removing = FileRemover(ask)
    assert await removing.remove([f"file://{store}/set/gone"])
    urls.append(f"file://{tmp_path}/later")
    assert await removing.remove([f"file://{store}/door/left", f"file://{tmp_path}/later/left"])
    assert (store / "set" / "left").exists()
    assert not (tmp_path / "later" / "left").exists()
