"""Of what journals and reports name, only files of registered storages are removed.

Invariant 4: nothing outside a storage's root."""

from pathlib import Path

import pytest

from pilot.reports.file_remover import FileRemover
from sluice.contracts.pilots import StorageUrls
from sluice.contracts.problems import NotAvailable, NotFound, ServiceError
from tests.unit.pilot.builders import leftovers


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A storage with a file in a folder."""
    (tmp_path / "store" / "set").mkdir(parents=True)
    (tmp_path / "store" / "set" / "left").touch()
    return tmp_path / "store"


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "precious"
    path.parent.mkdir()
    path.touch()
    return path


async def test_files_of_storages_are_removed(store: Path) -> None:
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
async def test_nothing_else_is_removed(store: Path, precious: Path, url: str) -> None:
    (store / "door").symlink_to(precious.parent)
    assert await leftovers(store).remove(
        [url.format(store=store, precious=precious), f"file://{store}/set/left"]
    )
    assert list(precious.parent.iterdir()) == [precious]
    assert list((store / "set").iterdir()) == []


async def test_a_storage_that_was_registered_later_is_found(store: Path) -> None:
    known: list[str] = []

    async def ask() -> StorageUrls:
        return StorageUrls(urls=known)

    removing = FileRemover(ask)
    url = f"file://{store}/set/left"
    await removing.remove([url])
    assert (store / "set" / "left").exists()
    known.append(f"file://{store}")
    await removing.remove([url])
    assert not (store / "set" / "left").exists()


@pytest.mark.parametrize(
    ("error", "done"), [(NotAvailable("the DMS is away"), False), (NotFound("no such route"), True)]
)
async def test_nothing_is_removed_where_the_storages_are_not_told(
    store: Path, error: ServiceError, done: bool
) -> None:
    """For ever so, at a WMS of the release before."""

    async def ask() -> StorageUrls:
        raise error

    assert await FileRemover(ask).remove([f"file://{store}/set/left"]) is done
    assert (store / "set" / "left").exists()


async def test_a_further_storage_is_asked_for_and_what_is_behind_a_link_keeps_nothing_up(
    store: Path, tmp_path: Path
) -> None:
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "left").touch()
    (store / "door").symlink_to("set")
    known = [f"file://{store}"]

    async def ask() -> StorageUrls:
        return StorageUrls(urls=known)

    removing = FileRemover(ask)
    assert await removing.remove([f"file://{store}/set/gone"])
    known.append(f"file://{tmp_path}/later")
    assert await removing.remove([f"file://{store}/door/left", f"file://{tmp_path}/later/left"])
    assert (store / "set" / "left").exists()
    assert not (tmp_path / "later" / "left").exists()
