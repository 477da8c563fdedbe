"""Download of catalogued files to this machine.

A file is copied if its storage is mounted here, and otherwise fetched over HTTP.
"""

import asyncio
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import httpx

from sluice import storage
from sluice.clientkit.connection import Connection
from sluice.clients.operator import OperatorClient
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.datasets import File
from sluice.storage.entries import make_temporary_name
from sluice.text.visible_text import quoted

#: The number of files that are fetched at the same time.
_MAX_CONCURRENT = 4
#: The number of successive tries without progress, and the pause between them in seconds.
_TRIES, _PAUSE = 5, 0.5


async def fetch_files(
    connection: Connection,
    targets: Sequence[tuple[File, Path]],
) -> None:
    """Fetch files to local paths, and create missing folders.

    A file replaces an existing one, and only when it is complete and verified. Repeating the call
    after an error is safe.

    Raises:
        StorageError: The storage cannot be read, or the content does not match its checksum.
        ServiceError: The system refuses a request or does not answer.
        OSError: A file cannot be written.
    """
    queue = iter(targets)
    workers = [
        asyncio.create_task(_fetch_all(connection, queue))
        for _ in range(min(_MAX_CONCURRENT, len(targets)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _fetch_all(
    connection: Connection,
    queue: Iterator[tuple[File, Path]],
) -> None:
    for file, path in queue:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        if not await asyncio.to_thread(_try_copy, file, path):
            await _download(connection.operator, file, path)


def _try_copy(file: File, path: Path) -> bool:
    """Copy a file from its storage on this machine, and return whether that worked.

    The result is False if the storage is not mounted here, or if another one is mounted at the same
    place.
    """
    source = storage.find_local_path(file.url)
    if source is None or not os.path.isfile(source) or not os.access(source, os.R_OK):
        return False
    try:
        storage.copy(
            file.url, storage.build_local_url(path), checksum=file.checksum, size=file.size
        )
    except (storage.ChecksumMismatch, storage.FileMissing):
        return False
    return True


async def _download(operator: OperatorClient, file: File, path: Path) -> None:
    """Download a file over HTTP, and resume after broken connections.

    Raises:
        ChecksumMismatch: The content does not match the catalogue.
        ServiceError: The system refuses a request or does not answer.
        OSError: The file cannot be written.
    """
    temporary = path.with_name(make_temporary_name())
    try:
        with storage.open_sparse_writer(temporary) as target:
            await _receive(operator, file, target)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


async def _receive(operator: OperatorClient, file: File, target: BinaryIO) -> None:
    digest, received, tries = hashlib.sha256(), 0, 0
    while received < file.size:
        before = received
        try:
            async with operator.stream_content(file, start=received) as answer:
                if answer.status_code != httpx.codes.PARTIAL_CONTENT and received:
                    digest, received = hashlib.sha256(), 0
                    target.seek(0)
                    target.truncate()
                async for piece in answer.aiter_bytes():
                    target.write(piece)
                    digest.update(piece)
                    received += len(piece)
                    if received > file.size:  # the response might never end
                        raise storage.ChecksumMismatch(
                            file.url, expected=f"{file.size} bytes", actual="more"
                        )
        except (httpx.TransportError, NotAvailable) as error:
            tries = 1 if received > before else tries + 1
            if tries >= _TRIES:
                raise NotAvailable(
                    f"file {quoted(file.name)} cannot be downloaded:"
                    f" {error or type(error).__name__}"
                ) from error
            await asyncio.sleep(_PAUSE)
    if f"sha256:{digest.hexdigest()}" != file.checksum:
        raise storage.ChecksumMismatch(
            file.url, expected=file.checksum, actual=f"sha256:{digest.hexdigest()}"
        )
