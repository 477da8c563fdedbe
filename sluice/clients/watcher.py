"""Client of the task watcher."""

from sluice.clients.base import API, ServiceClient
from sluice.contracts.chains import Release, Watch, Watched, WatchList
from sluice.contracts.states import WatchState


class WatcherClient(ServiceClient):
    service = "wfms.watcher"

    async def watch(self, watch: Watch) -> Watched:
        """Has a task or upload followed. Repeating it is fine."""
        return await self.call("POST", f"{API}/tasks", body=watch, answer=Watched)

    async def watched(
        self, *, state: WatchState | None = None, limit: int | None = None
    ) -> WatchList:
        """Newest first."""
        return await self.call(
            "GET", f"{API}/tasks", answer=WatchList, params={"state": state, "limit": limit}
        )

    async def release(self, release: Release) -> None:
        """Has data sets deleted; when it returns, that is the watcher's duty. Each is deleted once,
        however often it is named.
        """
        await self.call("POST", f"{API}/releases", body=release)
