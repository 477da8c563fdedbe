"""Reads of files in pieces, in a thread pool for each storage.

A storage that is slow or hangs, or a slow client, does not delay reads from other storages.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from dms.domain.places import Root
from dms.usecases.files.require_same_folder import require_same_folder
from sluice import storage
from sluice.storage import Reader, StorageUnavailable

ResultT = TypeVar("ResultT")

#: Seconds after which a storage counts as not answering. Services wait for each other for at most
#: 30 s.
READ_LIMIT = 20.0


class FileReads:
    """The component with the threads that read files.

    ``at_once`` pieces are read at the same time from one storage. Between two pieces, a reader
    holds no thread.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._threads: dict[str, _Threads] = {}

    async def start(self) -> None:
        """Do nothing: threads start with their first read."""

    async def stop(self) -> None:
        """Stop the threads without waiting for them."""
        for threads in self._threads.values():
            threads.executor.shutdown(wait=False, cancel_futures=True)

    def file(self, root: Root, url: str) -> "OpenFile":
        """Return a file that is opened at its first read; the caller must release it."""
        return OpenFile(self._get_threads(root.url), root, url)

    async def run(self, storage_url: str, work: Callable[[], ResultT]) -> ResultT:
        """Run work in a thread of a storage, and return or raise what it does.

        Raises:
            StorageUnavailable: The storage does not answer.
        """
        return await self._get_threads(storage_url).run(storage_url, work)

    def _get_threads(self, storage_url: str) -> "_Threads":
        if storage_url not in self._threads:
            self._threads[storage_url] = _Threads(self._at_once)
        return self._threads[storage_url]


class _Threads:
    """The threads of one storage; ``_late`` has calls that timed out and still occupy a thread."""

    def __init__(self, at_once: int) -> None:
        self.executor = ThreadPoolExecutor(at_once, thread_name_prefix="dms-reads")
        self._at_once = at_once
        self._late: list[Future[Any]] = []

    async def run(self, url: str, work: Callable[[], ResultT]) -> ResultT:
        """Run work in a thread.

        Raises:
            StorageUnavailable: The storage does not answer.
        """
        self._late = [read for read in self._late if not read.done()]
        if len(self._late) >= self._at_once:
            raise StorageUnavailable(url, "its storage does not answer")
        doing = self.executor.submit(work)
        try:
            async with asyncio.timeout(READ_LIMIT) as limit:
                return await asyncio.wrap_future(doing)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise StorageUnavailable(
                url, f"its storage has not answered within {READ_LIMIT:g} s"
            ) from error
        finally:
            if not doing.cancel() and not doing.done():  # a thread still runs it
                self._late.append(doing)


class OpenFile:
    """A file that is read piece by piece.

    A thread closes it once it is released and no other thread reads it, however long that takes.
    """

    def __init__(self, threads: _Threads, root: Root, url: str) -> None:
        self.url = url
        #: Size of the file in bytes; 0 before the first read.
        self.size = 0
        self._threads = threads
        self._root = root
        self._reader: Reader | None = None
        self._lock = threading.Lock()
        self._reading = self._released = False

    async def run(self, work: Callable[[Reader], ResultT]) -> ResultT:
        """Run work on the open file, one call at a time, and return or raise what it does.

        Raises:
            StorageError: The file cannot be read, is outside its storage, or the storage has moved.
        """
        return await self._threads.run(self.url, lambda: self._turn(work))

    async def open(self) -> None:
        """Open the file; raises like ``run``."""
        await self.run(lambda reader: None)

    def release(self) -> None:
        """Release the file without waiting. The call may be repeated."""
        with self._lock:
            self._released = True
            idle = not self._reading
        if not idle or self._reader is None:
            return
        try:
            closing = self._threads.executor.submit(self._close)
        except RuntimeError:  # the threads have been stopped
            self._close_apart()
        else:
            closing.add_done_callback(
                lambda done: self._close_apart() if done.cancelled() else None
            )

    def _turn(self, work: Callable[[Reader], ResultT]) -> ResultT:
        with self._lock:
            if self._released:
                raise StorageUnavailable(self.url, "it is no longer read")
            self._reading = True
        try:
            if self._reader is None:
                self._reader = _open_within(self._root, self.url)
                self.size = self._reader.size
            return work(self._reader)
        finally:
            with self._lock:
                self._reading = False
                released = self._released
            if released:
                self._close()

    def _close_apart(self) -> None:
        threading.Thread(target=self._close, name="dms-reads-close", daemon=True).start()

    def _close(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(OSError):
                reader.close()


def _open_within(root: Root, url: str) -> Reader:
    require_same_folder(root)
    storage.require_within(root.url, url)
    return storage.open_reader(url)
