"""Work on files in its own threads, so that a storage that hangs does not block other work."""

import asyncio
import os
import shutil
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from dms.domain.places import Root
from dms.usecases.files.require_same_folder import require_same_folder
from sluice import storage
from sluice.storage import (
    Entry,
    Folder,
    LinkInPath,
    StorageError,
    StorageUnavailable,
    find_local_path,
    resolve_folder,
)
from sluice.storage.checksums import Content
from sluice.storage.errors import os_errors_at

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

#: Files that one call in a thread removes.
MAX_FILES_PER_REMOVAL = 64
#: Storages that are inspected or probed at the same time.
MAX_CONCURRENT_PROBES = 8
#: Seconds after which a storage that is inspected or probed counts as not answering.
PROBE_TIMEOUT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """The real path of a local folder, and the free bytes there.

    If the folder does not exist yet, the path is where it will be.
    """

    folder: Folder
    free: float


class FileWork:
    """The component with the threads that change files.

    ``copies`` files are copied, and ``removals`` chunks of files are removed, at the same time.
    """

    def __init__(self, *, copies: int, removals: int) -> None:
        self._copying = asyncio.Semaphore(copies)
        self._removing = asyncio.Semaphore(removals)
        self._threads = ThreadPoolExecutor(copies + removals + 2, thread_name_prefix="dms-files")
        self._probe_threads = ThreadPoolExecutor(
            MAX_CONCURRENT_PROBES, thread_name_prefix="dms-probes"
        )
        self._running_probes: dict[Hashable, asyncio.Future[Any]] = {}

    async def start(self) -> None:
        """Do nothing: threads start with their first work."""

    async def stop(self) -> None:
        """Stop the threads without waiting for them.

        A running operation is left to itself: each may be interrupted and repeated.
        """
        for threads in (self._threads, self._probe_threads):
            threads.shutdown(wait=False, cancel_futures=True)

    async def copy(
        self, source: tuple[Root, str], target: tuple[Root, str], *, checksum: str, size: int
    ) -> None:
        """Copy a file and verify the copy. A target behind a link is refused.

        Args:
            source: Storage and URL of the file.
            target: Storage and URL of the copy.
            checksum: Expected checksum.
            size: Expected size in bytes.

        Raises:
            StorageError: The copy failed.
        """
        async with self._copying:
            await self._in_thread(_copy, source, target, checksum, size)

    async def put_piece(self, root: Root, url: str, data: bytes) -> None:
        """Write a small file. A target behind a link is refused.

        Raises:
            StorageError: The file cannot be written.
        """
        async with self._copying:
            await self._in_thread(_put_piece, root, url, data)

    async def join(
        self, root: Root, pieces: Sequence[str], url: str, content: Content
    ) -> storage.StoredFile:
        """Join pieces into one file, and keep the pieces. A target behind a link is refused.

        Raises:
            StorageError: The file cannot be written, or is not what was announced.
        """
        async with self._copying:
            return await self._in_thread(_join, root, pieces, url, content)

    async def remove(
        self, root: Root, urls: Sequence[str], *, spared_folders: Sequence[Folder] = ()
    ) -> list[StorageError | None]:
        """Remove files, and return the error of each; None if the file is gone or was spared.

        Files in ``spared_folders`` are kept and count as removed. Files outside the storage, and
        those behind a link in it, are not touched.
        """
        chunks = [
            urls[start : start + MAX_FILES_PER_REMOVAL]
            for start in range(0, len(urls), MAX_FILES_PER_REMOVAL)
        ]

        async def remove_chunk(chunk: Sequence[str]) -> list[StorageError | None]:
            async with self._removing:
                return await self._in_thread(_remove, root, chunk, spared_folders)

        outcomes = await asyncio.gather(*(remove_chunk(chunk) for chunk in chunks))
        return [outcome for chunk in outcomes for outcome in chunk]

    async def files_in(self, root: Root, folder_url: str) -> list[Entry]:
        """Return the files directly in a folder; none if the folder is behind a link.

        Raises:
            StorageError: The folder cannot be read.
        """
        return await self._in_thread(_files_in, root, folder_url)

    async def remove_folder(
        self, root: Root, folder_url: str, *, spared_folders: Sequence[Folder] = ()
    ) -> bool:
        """Remove an empty folder.

        Returns:
            False if it still has files, is in one of ``spared_folders``, or is behind a link.

        Raises:
            StorageError: The folder cannot be removed.
        """
        return await self._in_thread(_remove_folder, root, folder_url, spared_folders)

    async def inspect_folder(self, path: str) -> FolderFacts:
        """Return the real path of a local folder and the free bytes there.

        Raises:
            OSError: The folder cannot be inspected.
            TimeoutError: Its file system does not answer.
        """
        return await self._run_probe(
            path, lambda: FolderFacts(resolve_folder(path), _free_at(path))
        )

    async def probe(self, url: str, *, read_only: bool) -> None:
        """Check that a storage can be used.

        Raises:
            StorageError: The storage cannot be used.
            TimeoutError: The storage does not answer.
        """
        await self._run_probe((url, read_only), lambda: storage.probe(url, read_only=read_only))

    async def _run_probe(self, key: Hashable, work: Callable[[], ResultT]) -> ResultT:
        """Run a probe in a thread, or join the probe of the same storage that still runs.

        Each storage takes one thread at most.
        """
        probe = self._running_probes.get(key)
        if probe is None:
            probe = asyncio.get_running_loop().run_in_executor(self._probe_threads, work)
            self._running_probes[key] = probe
            probe.add_done_callback(lambda done: self._end_probe(key, done))
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            result: ResultT = await asyncio.shield(probe)
        return result

    def _end_probe(self, key: Hashable, probe: "asyncio.Future[Any]") -> None:
        del self._running_probes[key]
        if not probe.cancelled():
            probe.exception()  # the caller may have timed out

    async def _in_thread(
        self, work: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs
    ) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: work(*args, **kwargs)
        )


def _free_at(path: str) -> float:
    while True:
        try:
            return float(shutil.disk_usage(path).free)
        except FileNotFoundError:
            path = path.rpartition("/")[0] or "/"  # its file system is that of its parent


def _copy(source: tuple[Root, str], target: tuple[Root, str], checksum: str, size: int) -> None:
    _require_inside(*source)
    _require_plain(*target)
    storage.copy(source[1], target[1], checksum=checksum, size=size)


def _require_inside(root: Root, url: str) -> None:
    require_same_folder(root)
    storage.require_within(root.url, url)


def _require_plain(root: Root, url: str) -> None:
    """Check that a URL is inside a storage, and that no link leads to it."""
    _require_inside(root, url)
    if storage.leads_through_link(root.url, url):
        raise LinkInPath(url, root.url)


def _put_piece(root: Root, url: str, data: bytes) -> None:
    _require_plain(root, url)
    storage.put_bytes(data, url)


def _join(root: Root, pieces: Sequence[str], url: str, content: Content) -> storage.StoredFile:
    _require_plain(root, url)
    return storage.join(pieces, url, checksum=content.checksum, size=content.size)


def _remove(
    root: Root, urls: Sequence[str], spared_folders: Sequence[Folder]
) -> list[StorageError | None]:
    try:
        require_same_folder(root)
        _require_mounted(root.url)
    except StorageError as error:
        return [error] * len(urls)
    return [_remove_one(root.url, url, spared_folders) for url in urls]


def _remove_one(
    storage_url: str, url: str, spared_folders: Sequence[Folder]
) -> StorageError | None:
    try:
        if _lies_in(spared_folders, url.rpartition("/")[0]):
            storage.require_within(storage_url, url)
        else:
            storage.remove_within(storage_url, url)
    except StorageError as error:
        return error
    return None


def _lies_in(spared_folders: Sequence[Folder], folder_url: str) -> bool:
    path = find_local_path(folder_url)
    if not spared_folders or path is None:
        return False
    with os_errors_at(folder_url):
        folder = resolve_folder(path)
    return any(spared_folder.holds(folder) for spared_folder in spared_folders)


def _require_mounted(storage_url: str) -> None:
    """Check that the folder of a storage exists.

    On a file system that is not mounted, all files are missing, and must not count as deleted.
    """
    path = find_local_path(storage_url)
    if path is not None and not os.path.isdir(path):
        raise StorageUnavailable(
            storage_url, "the storage's folder is not there: is its file system mounted?"
        )


def _files_in(root: Root, folder_url: str) -> list[Entry]:
    _require_inside(root, folder_url)
    if storage.leads_through_link(root.url, folder_url):
        return []
    return [
        entry
        for entry in storage.list_entries(folder_url)
        if entry.url.rpartition("/")[0] == folder_url
    ]


def _remove_folder(root: Root, folder_url: str, spared_folders: Sequence[Folder]) -> bool:
    require_same_folder(root)
    try:
        return not _lies_in(spared_folders, folder_url) and storage.remove_folder_within(
            root.url, folder_url
        )
    except LinkInPath:
        return False
