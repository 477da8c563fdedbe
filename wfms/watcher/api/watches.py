"""REST routes of the watcher: watches of tasks and uploads, and releases of data sets."""

from typing import Annotated

from fastapi import Query, status

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.chains import Release, Watch, Watched, WatchList
from sluice.contracts.common.states import WatchKind, WatchState
from sluice.servicekit.access.policy import allow
from sluice.servicekit.web.dependencies import AppDatabase
from sluice.servicekit.web.http import api_router
from wfms.watcher.api.dependencies import Wakes
from wfms.watcher.usecases.accept_watch import accept_watch
from wfms.watcher.usecases.list_watches import list_watches
from wfms.watcher.usecases.take_over_releases import take_over_releases

Limit = Annotated[int, Query(ge=1, le=1000)]


router = api_router("/api/v1", tags=["watches"])


@router.post("/tasks", operation_id="watch")
@allow(CallingService.CHAINS)
async def watch_route(database: AppDatabase, wakes: Wakes, new: Watch) -> Watched:
    """Follow a task or an upload. A repeated request returns the first watch."""
    watched = await accept_watch(database, new)
    if new.kind is WatchKind.UPLOAD:
        wakes.upload()
    return watched


@router.get("/tasks", operation_id="list_watched_tasks")
@allow(Role.ADMIN)
async def list_watched_tasks_route(
    database: AppDatabase, state: WatchState | None = None, limit: Limit = 200
) -> WatchList:
    """List the watches of tasks and uploads, newest first."""
    return await list_watches(database, state=state, limit=limit)


@router.post("/releases", operation_id="release", status_code=status.HTTP_204_NO_CONTENT)
@allow(CallingService.CHAINS)
async def release_route(database: AppDatabase, handed_over: Release) -> None:
    """Take over the deletion of data sets. Each data set is deleted once."""
    await take_over_releases(database, handed_over.datasets)
