"""Upload of local files as a version of an asset.

Files are sent in pieces, and only if the system does not have them yet.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from sluice.clientkit.connection import Connection
from sluice.clientkit.output import err
from sluice.clientkit.transfer.folders import list_folder, print_hidden
from sluice.clientkit.transfer.inputs import describe_path_problem
from sluice.contracts.common.numbers import size_text
from sluice.contracts.common.problems import Conflict, Finding, Unprocessable
from sluice.contracts.data.assets import (
    PIECE,
    AssetCheck,
    AssetDraft,
    FileToSend,
    NewAsset,
    NewAssetFile,
    StoredAsset,
)
from sluice.storage import compute_checksum
from sluice.text.visible_text import escaped, quoted, shown_path

#: The local path of each file by its path in the asset.
LocalFiles = Mapping[str, Path]

#: How often an upload is tried if others store or remove the same asset meanwhile.
TRIES = 3


def collect_files(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files of an asset by their paths in the asset.

    A file is called by its name. A folder stands for all files in it, by their paths in the folder,
    without hidden files and folders.

    Raises:
        Unprocessable: A file cannot be read, a folder is empty, or two files have the same path.
    """
    files: dict[str, Path] = {}
    problems: list[Finding] = []
    for path in paths:
        new_files = _collect_folder(path) if path.is_dir() else {path.name: path}
        if not new_files:
            problems.append(Finding(message=f"{shown_path(path)}: a folder without files"))
        for name, file in new_files.items():
            if why := describe_path_problem(file):
                problems.append(Finding(message=f"{shown_path(file)}: {why}"))
            elif name in files:
                message = (
                    f"{shown_path(files[name])} and {shown_path(file)} would both be {quoted(name)}"
                )
                problems.append(Finding(message=message))
            files[name] = file
    if problems:
        raise Unprocessable("these files cannot be put", findings=problems)
    return files


def _collect_folder(folder: Path) -> dict[str, Path]:
    contents = list_folder(folder, recursive=True)
    print_hidden(contents.hidden_files)
    files = sorted([*contents.files, *contents.outside_links])
    return {path.relative_to(folder).as_posix(): path for path in files if path.is_file()}


async def put_asset(
    connection: Connection,
    name: str,
    files: LocalFiles,
    *,
    note: str,
    check: AssetCheck | None = None,
    group: str | None = None,
) -> StoredAsset:
    """Upload files as a version of an asset. Repeating an interrupted upload continues it.

    Raises:
        Unprocessable: The system does not accept such an asset.
        Conflict: Others store or remove the same asset again and again.
        NotAvailable: The system does not answer.
        OSError: A file cannot be read.
    """
    description = await asyncio.to_thread(_describe_files, files, note, check)
    new = description.model_copy(update={"group": group})
    for number in range(TRIES):
        try:
            draft = await connection.operator.begin_asset(name, new)
            return await _complete(connection, name, draft, files)
        except Conflict:
            if number == TRIES - 1:
                raise
    raise AssertionError("never reached")


async def _complete(
    connection: Connection, name: str, draft: AssetDraft, files: LocalFiles
) -> StoredAsset:
    if draft.uid is None:
        assert draft.version is not None  # noqa: S101 - one of both
        asset = await connection.operator.get_asset(name)
        newest_version = asset.newest or draft.version
        return StoredAsset(version=draft.version, new=False, newest=newest_version.version)
    for missing in draft.missing:
        await _send(connection, files[missing.path], missing, name=name, draft=draft.uid)
    return await connection.operator.complete_asset(name, draft.uid)


async def _send(
    connection: Connection, path: Path, missing: FileToSend, *, name: str, draft: UUID
) -> None:
    offset, number = missing.received, missing.number
    size = await asyncio.to_thread(os.path.getsize, path)
    if size > PIECE:
        err.print(f"sending {escaped(missing.path)} ({size_text(size - offset)})")
    while piece := await asyncio.to_thread(_read, path, offset):
        await connection.operator.send_asset_piece(name, draft, number, piece, offset=offset)
        offset += len(piece)
    await connection.operator.complete_asset_file(name, draft, number=number)


def _read(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(PIECE)


def _describe_files(files: LocalFiles, note: str, check: AssetCheck | None) -> NewAsset:
    return NewAsset(
        files=[
            NewAssetFile(path=name, size=path.stat().st_size, checksum=compute_checksum(path))
            for name, path in files.items()
        ],
        note=note,
        check=check,
    )
