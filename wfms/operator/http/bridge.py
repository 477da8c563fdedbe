"""Bridge from Flask's threads to the event loop of the service.

The database and the clients of the other services belong to that event loop.
"""

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from sluice.contracts.common.problems import NotAvailable

ResultT = TypeVar("ResultT")


class Bridge:
    """Component that runs coroutines on the event loop it was started on.

    Args:
        patience: Seconds that one coroutine may take.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._loop: asyncio.AbstractEventLoop | None = None

    async def start(self) -> None:
        """Remember the running event loop."""
        self._loop = asyncio.get_running_loop()

    async def stop(self) -> None:
        """Refuse further work."""
        self._loop = None

    def run(self, work: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Run ``work`` on the event loop and return its result. Call it from another thread only.

        It raises what ``work`` raises.

        Raises:
            NotAvailable: The work took too long and was canceled, or the service does not run.
        """
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
            if future.done():  # the time-out comes from the work itself
                raise
            future.cancel()
            raise NotAvailable(f"no answer within {self._patience:g} s; try again") from error
