"""Work on files, in threads of its own: a storage that hangs keeps neither the event loop nor
anybody else's threads.
"""

import asyncio
import os
import shutil
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from dms.domain.places import Root
from dms.usecases.check_folder import require_same_folder
from sluice import storage
from sluice.storage import (
    BehindLink,
    Entry,
    Folder,
    StorageError,
    StorageUnavailable,
    folder_at,
    local_path,
)
from sluice.storage.checksums import Content
from sluice.storage.errors import os_errors_at

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

#: Files removed in one go by one thread.
CHUNK = 64
#: Storages looked at, or tried out, at a time.
LOOKS = 8
#: Seconds after which a storage that is looked at, or tried out, is taken for one that does not
#: answer.
LOOK_LIMIT = 20.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Where a local folder really lies, and the bytes that are free there; before it is made, where
    it will be.
    """

    folder: Folder
    free: float


class FileWork:
    """Component: the threads. ``copies``: files copied at a time; ``removals``: chunks of files
    removed at a time.
    """

    def __init__(self, *, copies: int, removals: int) -> None:
        self._copying = asyncio.Semaphore(copies)
        self._removing = asyncio.Semaphore(removals)
        self._threads = ThreadPoolExecutor(copies + removals + 2, thread_name_prefix="dms-files")
        self._lookers = ThreadPoolExecutor(LOOKS, thread_name_prefix="dms-looks")
        self._looks: dict[Hashable, asyncio.Future[Any]] = {}

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        """Leaves alone what a thread is in the middle of: every operation on files may be cut off
        and repeated.
        """
        for threads in (self._threads, self._lookers):
            threads.shutdown(wait=False, cancel_futures=True)

    async def copy(
        self, source: tuple[Root, str], target: tuple[Root, str], *, checksum: str, size: int
    ) -> None:
        """``source`` and ``target``: the storage, and the URL of the file. Behind a link nothing is
        written. Raises ``StorageError``.
        """
        async with self._copying:
            await self._in_thread(_copy, source, target, checksum, size)

    async def put_piece(self, root: Root, url: str, data: bytes) -> None:
        """A small file. Behind a link nothing is written. Raises ``StorageError``."""
        async with self._copying:
            await self._in_thread(_put_piece, root, url, data)

    async def join(
        self, root: Root, pieces: Sequence[str], url: str, content: Content
    ) -> storage.Stored:
        """One file of its pieces, which stay. Behind a link nothing is written. Raises
        ``StorageError``.
        """
        async with self._copying:
            return await self._in_thread(_join, root, pieces, url, content)

    async def remove(
        self, root: Root, urls: Sequence[str], *, spared: Sequence[Folder] = ()
    ) -> list[StorageError | None]:
        """What became of each: None where it is gone, or lies in one of the folders ``spared`` (it
        is left there, and only forgotten). Files outside the storage, and those behind a link in
        it, are not touched.
        """
        chunks = [urls[start : start + CHUNK] for start in range(0, len(urls), CHUNK)]

        async def remove_chunk(chunk: Sequence[str]) -> list[StorageError | None]:
            async with self._removing:
                return await self._in_thread(_remove, root, chunk, spared)

        outcomes = await asyncio.gather(*(remove_chunk(chunk) for chunk in chunks))
        return [outcome for chunk in outcomes for outcome in chunk]

    async def files_in(self, root: Root, folder_url: str) -> list[Entry]:
        """The files that lie in the folder itself: none behind a link. Raises ``StorageError``."""
        return await self._in_thread(_files_in, root, folder_url)

    async def remove_folder(
        self, root: Root, folder_url: str, *, spared: Sequence[Folder] = ()
    ) -> bool:
        """Removes an empty folder, unless it lies in one of those ``spared``; False where it still
        has files, is spared, or is reached through a link. Raises ``StorageError``.
        """
        return await self._in_thread(_remove_folder, root, folder_url, spared)

    async def look_at(self, path: str) -> Seen:
        """A local folder. Raises ``OSError``, ``TimeoutError``."""
        return await self._look(path, lambda: Seen(folder_at(path), _free_at(path)))

    async def probe(self, url: str, *, read_only: bool) -> None:
        """Raises ``StorageError`` where the storage cannot be used, ``TimeoutError``."""
        await self._look((url, read_only), lambda: storage.probe(url, read_only=read_only))

    async def _look(self, what: Hashable, work: Callable[[], ResultT]) -> ResultT:
        """A look that hangs is not joined by a second one: each storage takes one thread at the
        most.
        """
        looking = self._looks.get(what)
        if looking is None:
            looking = asyncio.get_running_loop().run_in_executor(self._lookers, work)
            self._looks[what] = looking
            looking.add_done_callback(lambda done: self._seen(what, done))
        async with asyncio.timeout(LOOK_LIMIT):
            result: ResultT = await asyncio.shield(looking)
        return result

    def _seen(self, what: Hashable, looking: "asyncio.Future[Any]") -> None:
        del self._looks[what]
        if not looking.cancelled():
            looking.exception()  # nobody may be waiting for it any more

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
            path = path.rpartition("/")[0] or "/"  # what holds its parent will hold it


def _copy(source: tuple[Root, str], target: tuple[Root, str], checksum: str, size: int) -> None:
    for root, url in (source, target):
        require_same_folder(root)
        storage.require_within(root.url, url)
    root, url = target
    if storage.through_link(root.url, url):
        raise BehindLink(url, root.url)
    storage.copy(source[1], url, checksum=checksum, size=size)


def _require_plain(root: Root, url: str) -> None:
    require_same_folder(root)
    storage.require_within(root.url, url)
    if storage.through_link(root.url, url):
        raise BehindLink(url, root.url)


def _put_piece(root: Root, url: str, data: bytes) -> None:
    _require_plain(root, url)
    storage.put_bytes(data, url)


def _join(root: Root, pieces: Sequence[str], url: str, content: Content) -> storage.Stored:
    _require_plain(root, url)
    return storage.join(pieces, url, checksum=content.checksum, size=content.size)


def _remove(root: Root, urls: Sequence[str], spared: Sequence[Folder]) -> list[StorageError | None]:
    try:
        require_same_folder(root)
        _require_mounted(root.url)
    except StorageError as error:
        return [error] * len(urls)
    return [_removed(root.url, url, spared) for url in urls]


def _removed(storage_url: str, url: str, spared: Sequence[Folder]) -> StorageError | None:
    try:
        if _lies_in(spared, url.rpartition("/")[0]):
            storage.require_within(storage_url, url)
        else:
            storage.remove_within(storage_url, url)
    except StorageError as error:
        return error
    return None


def _lies_in(spared: Sequence[Folder], folder_url: str) -> bool:
    path = local_path(folder_url)
    if not spared or path is None:
        return False
    with os_errors_at(folder_url):
        folder = folder_at(path)
    return any(kept.holds(folder) for kept in spared)


def _require_mounted(storage_url: str) -> None:
    """On a file system that is not mounted every file is missing, which must not pass for
    deleted.
    """
    path = local_path(storage_url)
    if path is not None and not os.path.isdir(path):
        raise StorageUnavailable(
            storage_url, "the storage's folder is not there: is its file system mounted?"
        )


def _files_in(root: Root, folder_url: str) -> list[Entry]:
    require_same_folder(root)
    storage.require_within(root.url, folder_url)
    if storage.through_link(root.url, folder_url):
        return []
    return [
        entry for entry in storage.entries(folder_url) if entry.url.rpartition("/")[0] == folder_url
    ]


def _remove_folder(root: Root, folder_url: str, spared: Sequence[Folder]) -> bool:
    require_same_folder(root)
    try:
        return not _lies_in(spared, folder_url) and storage.remove_folder_within(
            root.url, folder_url
        )
    except BehindLink:
        return False
