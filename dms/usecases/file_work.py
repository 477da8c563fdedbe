"""Work on files, in threads of its own: a storage that hangs keeps neither the event loop nor anybody else's threads."""

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from sluice import storage
from sluice.storage import Entry, StorageError, StorageUnavailable, local_path

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

#: Files removed in one go by one thread.
CHUNK = 64


class FileWork:
    """Component: the threads. ``copies``: files copied at a time; ``removals``: chunks of files removed at a time."""

    def __init__(self, *, copies: int, removals: int) -> None:
        self._copying = asyncio.Semaphore(copies)
        self._removing = asyncio.Semaphore(removals)
        self._threads = ThreadPoolExecutor(copies + removals + 2, thread_name_prefix="dms-files")

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        """Leaves alone what a thread is in the middle of: every operation on files may be cut off and repeated."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def copy(self, source: tuple[str, str], target: tuple[str, str], *, checksum: str, size: int) -> None:
        """``source`` and ``target``: URL of the storage, URL of the file. Raises ``StorageError``."""
        async with self._copying:
            await self._in_thread(_copy, source, target, checksum, size)

    async def remove(self, storage_url: str, urls: Sequence[str]) -> list[StorageError | None]:
        """What became of each: None where it is gone. Files outside the storage are not touched."""
        chunks = [urls[start : start + CHUNK] for start in range(0, len(urls), CHUNK)]

        async def one(chunk: Sequence[str]) -> list[StorageError | None]:
            async with self._removing:
                return await self._in_thread(_remove, storage_url, chunk)

        outcomes = await asyncio.gather(*(one(chunk) for chunk in chunks))
        return [outcome for chunk in outcomes for outcome in chunk]

    async def files_in(self, storage_url: str, folder_url: str) -> list[Entry]:
        """The files that lie in the folder itself. Raises ``StorageError``."""
        return await self._in_thread(_files_in, storage_url, folder_url)

    async def remove_folder(self, storage_url: str, folder_url: str) -> bool:
        """Removes an empty folder; False where it still has files. Raises ``StorageError``."""
        return await self._in_thread(_remove_folder, storage_url, folder_url)

    async def _in_thread(self, work: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*args, **kwargs))


def _copy(source: tuple[str, str], target: tuple[str, str], checksum: str, size: int) -> None:
    storage.require_within(*source)
    storage.require_within(*target)
    storage.copy(source[1], target[1], checksum=checksum, size=size)


def _remove(storage_url: str, urls: Sequence[str]) -> list[StorageError | None]:
    try:
        _require_mounted(storage_url)
    except StorageError as error:
        return [error] * len(urls)
    return [_removed(storage_url, url) for url in urls]


def _removed(storage_url: str, url: str) -> StorageError | None:
    try:
        storage.require_within(storage_url, url)
        storage.remove(url)
    except StorageError as error:
        return error
    return None


def _require_mounted(storage_url: str) -> None:
    """On a file system that is not mounted every file is missing, which must not pass for deleted."""
    path = local_path(storage_url)
    if path is not None and not os.path.isdir(path):
        raise StorageUnavailable(storage_url, "the storage's folder is not there: is its file system mounted?")


def _files_in(storage_url: str, folder_url: str) -> list[Entry]:
    storage.require_within(storage_url, folder_url)
    return [entry for entry in storage.entries(folder_url) if entry.url.rpartition("/")[0] == folder_url]


def _remove_folder(storage_url: str, folder_url: str) -> bool:
    storage.require_within(storage_url, folder_url)
    return storage.remove_folder(folder_url)
