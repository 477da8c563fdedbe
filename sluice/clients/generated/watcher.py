"""Calls of wfms.watcher, generated from its OpenAPI document by `make docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sluice.clients.base import API, ServiceClient

if TYPE_CHECKING:
    from sluice.contracts.chains.chains import Release, Watch, Watched, WatchList
    from sluice.contracts.common.states import WatchState


class WatcherCalls(ServiceClient):
    """All calls."""

    async def release(self, body: Release) -> None:
        """Take over the deletion of data sets.

        Each data set is deleted once.
        """
        await self.call("POST", f"{API}/releases", body=body)

    async def list_watched_tasks(
        self, *, state: WatchState | None = None, limit: int | None = None
    ) -> WatchList:
        """List the watches of tasks and uploads, newest first."""
        from sluice.contracts.chains.chains import WatchList

        return await self.call(
            "GET", f"{API}/tasks", params={"state": state, "limit": limit}, answer=WatchList
        )

    async def watch(self, body: Watch) -> Watched:
        """Follow a task or an upload.

        A repeated request returns the first watch.
        """
        from sluice.contracts.chains.chains import Watched

        return await self.call("POST", f"{API}/tasks", body=body, answer=Watched)
