"""Client of the task watcher."""

from sluice.clients.base import API, ServiceClient
from sluice.contracts.chains.chains import Release, Watch, Watched


class WatcherClient(ServiceClient):
    """Client of the task watcher."""

    service = "wfms.watcher"

    async def watch(self, watch: Watch) -> Watched:
        """Watch a task or an upload. Repeating the call is safe."""
        return await self.call("POST", f"{API}/tasks", body=watch, answer=Watched)

    async def release(self, release: Release) -> None:
        """Have data sets deleted. When the call returns, the watcher is responsible for it.

        Each data set is deleted once, however often it is named.
        """
        await self.call("POST", f"{API}/releases", body=release)
