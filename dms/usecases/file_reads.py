"""Reading files piece by piece, in threads of its own: neither a slow storage nor a slow reader keeps anybody else."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from sluice import storage
from sluice.storage import Reader

P = ParamSpec("P")
ResultT = TypeVar("ResultT")


class FileReads:
    """Component: the threads. ``at_once``: pieces read at a time; between two pieces a reader holds none of them."""

    def __init__(self, at_once: int) -> None:
        self._threads = ThreadPoolExecutor(at_once, thread_name_prefix="dms-reads")

    async def start(self) -> None:
        return None

    async def stop(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def open(self, storage_url: str, url: str) -> Reader:
        """Raises ``StorageError``, also where the file lies outside of its storage."""
        return await self.run(open_within, storage_url, url)

    async def run(self, work: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs) -> ResultT:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*args, **kwargs))


def open_within(storage_url: str, url: str) -> Reader:
    """Blocks. Raises ``StorageError``."""
    storage.require_within(storage_url, url)
    return storage.open_reader(url)
