"""REST routes of the watcher: following a task or an upload, what is followed, and data sets to
release.
"""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, status

from sluice.contracts.access import CallingService, Role
from sluice.contracts.chains import Release, Watch, Watched, WatchList
from sluice.contracts.states import WatchKind, WatchState
from sluice.servicekit.access.policy import allow
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router
from wfms.watcher.usecases.accept_watch import accept_watch
from wfms.watcher.usecases.read_watches import read_watches
from wfms.watcher.usecases.request_deletions import take_over_releases

Limit = Annotated[int, Query(ge=1, le=1000)]


def watches_router(database: Database, *, wake: Callable[[], None]) -> APIRouter:
    """``wake``: called when there is something new that may have ended already: uploads may, tasks
    are sent to the WMS after they are followed.
    """
    router = api_router("/api/v1", tags=["watches"])

    @router.post("/tasks")
    @allow(CallingService.CHAINS)
    async def watch(new: Watch) -> Watched:
        """Follows this task or upload; a repetition answers with the first."""
        watched = await accept_watch(database, new)
        if new.kind is WatchKind.UPLOAD:
            wake()
        return watched

    @router.get("/tasks")
    @allow(Role.ADMIN)
    async def watched(state: WatchState | None = None, limit: Limit = 200) -> WatchList:
        """Lists the tasks and uploads that it follows or followed, newest first."""
        return await read_watches(database, state=state, limit=limit)

    @router.post("/releases", status_code=status.HTTP_204_NO_CONTENT)
    @allow(CallingService.CHAINS)
    async def release(handed_over: Release) -> None:
        """Has these data sets deleted: from the answer on it is the watcher's duty. Each is deleted
        once.
        """
        await take_over_releases(database, handed_over.datasets)

    return router
