"""The commands `sluice storage …`."""

from pathlib import Path
from typing import Annotated

import typer

from sluice.cli.errors import plain_errors
from sluice.cli.system import System, with_system
from sluice.clientkit.connection import Connection
from sluice.clientkit.local_times import local_time
from sluice.clientkit.output import err, out, print_json, print_table
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import NewStorage, Storage, Watermarks
from sluice.storage import build_local_url
from sluice.text.visible_text import quoted

app = typer.Typer(no_args_is_help=True, help="Storages: the places of files.")


_MARK = (
    "Watermark: bytes, or a share of the capacity, such as 80%. Without a"
    " capacity, the share is of the storage's data and the free space of its file"
    " system."
)
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the storage.")]
LowOption = Annotated[str | None, typer.Option("--low", help=_MARK)]
HighOption = Annotated[str | None, typer.Option("--high", help=_MARK)]


@app.command("list")
@with_system
def list_storages(
    system: System,
    *,
    kind: Annotated[
        StorageType | None, typer.Option("--type", help="Only storages of this type.")
    ] = None,
) -> None:
    """List storages. Those that get new data sets come first, by their free space."""
    storages = system.ask(lambda c: c.dms.list_storages(type=kind, all=True, measured=True))
    if system.as_json:
        print_json(storages)
        return
    print_table(
        ["name", "type", "state", "url", "used", "free", "capacity", "marks"],
        [
            (
                s.name,
                s.type.value,
                _describe_state(s),
                s.url,
                size_text(s.used),
                None if s.free is None else size_text(s.free),
                s.capacity and size_text(s.capacity),
                _format_watermarks(s.marks),
            )
            for s in storages
        ],
        empty="no storage",
    )
    for storage in storages:
        if storage.warning is not None:
            err.print(f"{storage.name} gets no new data sets: {storage.warning}")
        if storage.full is not None and storage.enabled:
            err.print(
                f"{storage.name} is full ({storage.full}): jobs that write there wait until there"
                " is space"
            )
        if storage.filling_since is not None:
            since = f"since {local_time(storage.filling_since)}"
            err.print(
                f"{storage.name} fills faster than it is worked off, {since}: tasks that free space"
                " there are ranked higher"
            )


@app.command("add")
@with_system
def add(  # noqa: PLR0913 - a command's options, each by its name
    system: System,
    name: NameArgument,
    kind: Annotated[StorageType, typer.Argument(help="The type of the storage.")],
    storage_url: Annotated[
        str,
        typer.Argument(
            metavar="URL",
            help="The address of the folder, as in file:///data/input or s3://bucket/input.",
        ),
    ],
    *,
    capacity: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Bytes up to which the storage gets new data. The default limit is its file"
            " system.",
        ),
    ] = None,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Never remove files from the storage.")
    ] = False,
    low: LowOption = None,
    high: HighOption = None,
) -> None:
    """Register a storage: an existing folder in a place where the DMS allows storages.

    SLUICE_DMS_STORAGE_ROOTS or `sluice up --storage-root` names these places. The storage is tried
    out. Repeating the command changes nothing. `sluice storage marks` explains --low and --high.
    """
    new = plain_errors(
        lambda: NewStorage(
            name=name, type=kind, url=storage_url, capacity=capacity, read_only=read_only
        )
    )
    marks = _parse_watermarks(low, high)

    async def register(connection: Connection) -> Storage:
        storage = await connection.dms.register_storage(new)
        return storage if marks is None else await connection.dms.mark_storage(name, marks)

    stored = system.ask(register)
    system.answer(stored, f"{stored.name}: {stored.url}")


@app.command("marks")
@with_system
def set_marks(
    system: System,
    name: NameArgument,
    *,
    low: LowOption = None,
    high: HighOption = None,
    none: Annotated[
        bool, typer.Option("--none", help="Remove the watermarks of the storage.")
    ] = False,
) -> None:
    """Set the watermarks of an input storage.

    From the high watermark on, the system raises the rank of tasks that free space, until the
    storage is below the low watermark. The chains of these tasks have their input there, and delete
    it in the end. A rank that somebody has set stays.
    """
    marks = _parse_watermarks(low, high)
    if none == (marks is not None):
        raise typer.BadParameter("give --low and --high, or --none")
    stored = system.ask(
        lambda c: c.dms.unmark_storage(name) if marks is None else c.dms.mark_storage(name, marks),
    )
    system.answer(stored, f"{stored.name}: {_format_watermarks(stored.marks) or 'no watermarks'}")


@app.command("disable")
@with_system
def disable(
    system: System,
    name: NameArgument,
) -> None:
    """Disable a storage, so that it gets no new data sets.

    What is on it can still be read and deleted. The command says so if the storage was the last
    of its type.
    """

    async def disable_and_check_others(connection: Connection) -> tuple[Storage, bool]:
        stored = await connection.dms.disable_storage(name)
        others = await connection.dms.list_storages(type=stored.type)
        return stored, not stored.read_only and all(other.read_only for other in others)

    stored, last = system.ask(disable_and_check_others)
    message = f"{stored.name}: disabled"
    if last:
        message += (
            f"\nno other storage of type {stored.type} is enabled: what is to be written to one"
            f" waits, or is refused (sluice storage enable {stored.name}, or add another)"
        )
    system.answer(stored, message)


@app.command("enable")
@with_system
def enable(
    system: System,
    name: NameArgument,
) -> None:
    """Enable a storage for new data sets again, if it could be registered today."""
    stored = system.ask(lambda c: c.dms.enable_storage(name))
    system.answer(stored, f"{stored.name}: enabled")


@app.command("init")
@with_system
def init(
    system: System,
    folder: Annotated[
        Path, typer.Argument(help="Folder that the DMS and all pilots see at the same path.")
    ],
) -> None:
    """Create a folder of each type (input, intermediate, output, logs) in FOLDER, as storages.

    Repeating the command changes nothing.
    """

    async def register(connection: Connection) -> list[Storage]:
        return [
            await connection.dms.register_storage(new) for new in _make_folders(folder.absolute())
        ]

    stored = system.ask(register)
    if system.as_json:
        print_json(stored)
        return
    for storage in stored:
        out.print(f"{storage.name}: {storage.url}")


def _parse_watermarks(low: str | None, high: str | None) -> Watermarks | None:
    """Return the watermarks of the command line, or None if it has none."""
    if low is None and high is None:
        return None
    if low is None or high is None:
        raise typer.BadParameter("--low and --high belong together")
    return Watermarks(low=_parse_watermark(low, "--low"), high=_parse_watermark(high, "--high"))


def _parse_watermark(text: str, option: str) -> float:
    """Return a watermark: a share as a part of 1, or a number of bytes."""
    share = text.endswith("%")
    try:
        number = float(text.removesuffix("%")) / (100 if share else 1)
    except ValueError:
        number = -1.0
    if not (0 < number <= 1 if share else 1 < number < 2**63):
        raise typer.BadParameter(
            f"{quoted(text)} is neither a share such as 80% nor a number of bytes",
            param_hint=option,
        )
    return number


def _format_watermarks(marks: Watermarks | None) -> str:
    """Return watermarks in words: ``60% to 80%``."""
    if marks is None:
        return ""
    return " to ".join(
        f"{100 * mark:g}%" if mark <= 1 else size_text(mark) for mark in (marks.low, marks.high)
    )


def _describe_state(storage: Storage) -> str:
    state = "enabled" if storage.in_use else "refused" if storage.enabled else "disabled"
    if storage.in_use and storage.full is not None:
        state = "full"
    return f"{state}, read-only" if storage.read_only else state


def _make_folders(folder: Path) -> list[NewStorage]:
    """Create a folder of each type, and return storages that are named after their types."""
    places = {kind: folder / kind.value for kind in StorageType}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    return [
        NewStorage(name=kind.value, type=kind, url=build_local_url(place))
        for kind, place in places.items()
    ]
