"""Upload of local files as a version of an asset.

Files are sent in pieces, and only if the system does not have them yet.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import UUID

from sluice.cli.connection import Connection
from sluice.cli.output import err, human_bytes
from sluice.cli.transfer.folders import contents_of, tell_hidden
from sluice.cli.transfer.inputs import trouble_with
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
from sluice.storage import checksum_of
from sluice.text.visible_text import escaped, quoted, shown_path

#: The local path of each file by its path in the asset.
LocalFiles = Mapping[str, Path]

#: How often an upload is tried if others store or remove the same asset meanwhile.
TRIES = 3


def files_of(paths: Sequence[Path]) -> dict[str, Path]:
    """Return the files of an asset by their paths in the asset.

    A file is called by its name. A folder stands for all files in it, by their paths in the folder,
    without hidden files and folders.

    Raises:
        Unprocessable: A file cannot be read, a folder is empty, or two files have the same path.
    """
    found: dict[str, Path] = {}
    wrong: list[Finding] = []
    for path in paths:
        given = _of_folder(path) if path.is_dir() else {path.name: path}
        if not given:
            wrong.append(Finding(message=f"{shown_path(path)}: a folder without files"))
        for name, file in given.items():
            if why := trouble_with(file):
                wrong.append(Finding(message=f"{shown_path(file)}: {why}"))
            elif name in found:
                message = (
                    f"{shown_path(found[name])} and {shown_path(file)} would both be {quoted(name)}"
                )
                wrong.append(Finding(message=message))
            found[name] = file
    if wrong:
        raise Unprocessable("these files cannot be put", findings=wrong)
    return found


def _of_folder(folder: Path) -> dict[str, Path]:
    found = contents_of(folder, recursive=True)
    tell_hidden(found.hidden)
    files = sorted([*found.files, *found.ways_out])
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
    described = await asyncio.to_thread(_described, files, note, check)
    new = described.model_copy(update={"group": group})
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
        asset = await connection.operator.asset(name)
        newest = asset.newest or draft.version
        return StoredAsset(version=draft.version, new=False, newest=newest.version)
    for missing in draft.missing:
        await _send(connection, files[missing.path], missing, name=name, draft=draft.uid)
    return await connection.operator.complete_asset(name, draft.uid)


async def _send(
    connection: Connection, path: Path, missing: FileToSend, *, name: str, draft: UUID
) -> None:
    offset, number = missing.received, missing.number
    size = await asyncio.to_thread(os.path.getsize, path)
    if size > PIECE:
        err.print(f"sending {escaped(missing.path)} ({human_bytes(size - offset)})")
    while piece := await asyncio.to_thread(_read, path, offset):
        await connection.operator.send_asset_piece(name, draft, piece, number=number, offset=offset)
        offset += len(piece)
    await connection.operator.complete_asset_file(name, draft, number=number)


def _read(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(PIECE)


def _described(files: LocalFiles, note: str, check: AssetCheck | None) -> NewAsset:
    return NewAsset(
        files=[
            NewAssetFile(path=name, size=path.stat().st_size, checksum=checksum_of(path))
            for name, path in files.items()
        ],
        note=note,
        check=check,
    )
