"""Runs coroutines for Flask's threads on the service's event loop, where the database and the
clients of the other services live."""

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from sluice.contracts.problems import NotAvailable

ResultT = TypeVar("ResultT")


class Bridge:
    """Component: knows the loop it was started on. ``patience``: seconds that one piece of work may
    take."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def stop(self) -> None:
        self._loop = None

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """The result of ``work``, run on the loop; call it from another thread only. Raises what
        ``work`` raises, and ``NotAvailable`` when it takes too long (it is canceled then) or the
        service stops."""
        loop = self._loop
        if loop is None:
            work.close()
            raise NotAvailable("the service is starting or stopping; try again")
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result(self._patience)
        except concurrent.futures.CancelledError as error:
            raise NotAvailable("the service is stopping; try again") from error
        except TimeoutError as error:
            if future.done():  # the work's own time-out, not ours
                raise
            future.cancel()
            raise NotAvailable(f"no answer within {self._patience:g} s; try again") from error
