"""`sluice storage …`"""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.connect import DEFAULT_HOME, Connection, HomeOption, JsonOption, UrlOption, ask
from sluice.cli.output import answer, err, human_bytes, out, print_json, print_table
from sluice.contracts.datasets import NewStorage, Storage
from sluice.contracts.states import StorageType
from sluice.storage import local_url

app = typer.Typer(no_args_is_help=True, help="The places that files lie in.")


@app.command("list")
def list_storages(
    *,
    kind: Annotated[StorageType | None, typer.Option("--type", help="Only of this type.")] = None,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """The storages that data sets lie on: those that get new ones first, by their free space."""
    found = ask(url, home, lambda c: c.dms.storages(kind, everything=True))
    if as_json:
        print_json(found)
        return
    print_table(
        ["name", "type", "state", "url", "used", "capacity"],
        [(s.name, s.type.value, _state(s), s.url, human_bytes(s.used), s.capacity and human_bytes(s.capacity)) for s in found],
        empty="no storage",
    )
    for storage in found:
        if storage.warning is not None:
            err.print(f"{storage.name} gets no new data sets: {storage.warning}")


@app.command("add")
def add(  # noqa: PLR0913 - a command's options, each by its name
    name: str,
    kind: StorageType,
    storage_url: Annotated[str, typer.Argument(metavar="URL", help="file:///data/input, s3://bucket/input …")],
    *,
    capacity: Annotated[
        int | None, typer.Option(min=1, help="Bytes that it may hold; without: what its file system has.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="Never remove files from it.")] = False,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Make a storage known: a folder that is there, where the DMS lets storages lie (SLUICE_DMS_STORAGE_ROOTS, `sluice up
    --storage-root`). It is tried out. The same again changes nothing."""
    new = NewStorage(name=name, type=kind, url=storage_url, capacity=capacity, read_only=read_only)
    stored = ask(url, home, lambda c: c.dms.register_storage(new))
    answer(stored, f"{stored.name}: {stored.url}", as_json=as_json)


@app.command("disable")
def disable(name: str, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Let a storage get no new data sets; what lies on it can be read and deleted as before."""
    stored = ask(url, home, lambda c: c.dms.disable_storage(name))
    answer(stored, f"{stored.name}: disabled", as_json=as_json)


@app.command("enable")
def enable(name: str, *, url: UrlOption = None, home: HomeOption = DEFAULT_HOME, as_json: JsonOption = False) -> None:
    """Let a storage get new data sets again, if it could be registered today."""
    stored = ask(url, home, lambda c: c.dms.enable_storage(name))
    answer(stored, f"{stored.name}: enabled", as_json=as_json)


@app.command("init")
def init(
    folder: Annotated[Path, typer.Argument(help="Folder that the DMS and all pilots see at this same path.")],
    *,
    url: UrlOption = None,
    home: HomeOption = DEFAULT_HOME,
    as_json: JsonOption = False,
) -> None:
    """Make a folder of each type (input, intermediate, output, logs) in FOLDER, and make them known as storages. The same again
    changes nothing."""

    async def register(connection: Connection) -> list[Storage]:
        return [await connection.dms.register_storage(new) for new in _make_folders(folder.absolute())]

    stored = ask(url, home, register)
    if as_json:
        print_json(stored)
        return
    for storage in stored:
        out.print(f"{storage.name}: {storage.url}")


def _state(storage: Storage) -> str:
    state = "enabled" if storage.in_use else "refused" if storage.enabled else "disabled"
    return f"{state}, read-only" if storage.read_only else state


def _make_folders(folder: Path) -> list[NewStorage]:
    """A storage of each type, named as its type."""
    places = {kind: folder / kind.value for kind in StorageType}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    return [NewStorage(name=kind.value, type=kind, url=local_url(place)) for kind, place in places.items()]
