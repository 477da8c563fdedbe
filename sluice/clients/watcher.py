"""Client of the task watcher."""

from sluice.clients.generated.watcher import WatcherCalls


class WatcherClient(WatcherCalls):
    """Client of the task watcher."""

    service = "wfms.watcher"
