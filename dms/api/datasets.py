"""Routes of data sets."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from dms.usecases.close_dataset import close_dataset
from dms.usecases.context import DmsContext
from dms.usecases.list_datasets import DatasetQuery, list_datasets, read_dataset
from dms.usecases.list_stalled import list_stalled
from dms.usecases.read_status import read_status
from dms.usecases.register_dataset import register_dataset
from dms.usecases.request_deletion import request_deletion
from dms.usecases.resume_dataset import resume_dataset
from dms.usecases.share_dataset import share_dataset
from sluice.contracts.access import CallingService, Role
from sluice.contracts.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    NewDataset,
    StalledList,
    require_no_kept_keys,
)
from sluice.contracts.owners import Share
from sluice.contracts.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.servicekit.access.asking import Asking, Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal import Person, principal_of
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router, errors

Released = Annotated[
    bool,
    Query(
        description="Say how many of its files are deleted already: all steps are done with them."
    ),
]

Copied = Annotated[
    bool, Query(description="Say whether whoever registered it has the originals of its files.")
]

#: Services that look at what comes and goes.
_LOOKING = (CallingService.OPERATOR, CallingService.CHAINS, CallingService.INTAKE)


def datasets_router(
    context: DmsContext, *, on_deletion: Callable[[], None], on_resume: Callable[[], None]
) -> APIRouter:
    """``on_deletion`` is called when there is something to delete, ``on_resume`` when what was
    halted goes on.
    """
    router = api_router("/api/v1/datasets", tags=["data sets"])
    _add_list(router, context.database)
    _add_filling(router, context)
    _add_reading(router, context.database)
    _add_clearing(router, context.database, on_deletion=on_deletion, on_resume=on_resume)
    return router


def stalled_router(database: Database) -> APIRouter:
    router = api_router("/api/v1", tags=["data sets"])

    @router.get("/stalled", responses=errors(NotAvailable))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def stalled(
        sight: Seen, limit: Annotated[int, Query(ge=1, le=1000)] = 100
    ) -> StalledList:
        """Lists uploads and deletions that failed several times, and those that wait for a person:
        one entry for each reason.
        """
        return await list_stalled(database, limit=limit, sight=sight)

    return router


def _add_list(router: APIRouter, database: Database) -> None:
    @router.get("", responses=errors(Unprocessable, NotAvailable))
    @allow(
        Role.VIEWER,
        CallingService.OPERATOR,
        CallingService.CHAINS,
        CallingService.INTAKE,
        CallingService.WATCHER,
    )
    async def page(query: Annotated[DatasetQuery, Query()], sight: Seen) -> DatasetPage:
        """Lists data sets, in one of three orders.

        **Without `state` and `name`**: those that can be worked with (closed, uploading, uploaded),
        in the order in which they were closed. Whoever gives each answer's `cursor` as the next
        request's `after` misses none and sees none twice, however many close at the same moment. So
        does whoever gives the newest `timestamp` of the answers as the next request's `timestamp`:
        that of a closed data set is the time of its closing, no two are alike, and none appears
        behind a later one.

        **With `state` or `name`**: in the order of registration, in any state or those named. This
        is for people (who call an output of a chain by the names of the chain's input and of the
        template's output, as `week.1.report`): a data set whose registration takes long may appear
        before the cursor. With `newest` the last one registered comes first. A cursor of one order
        is refused in the others.

        **With `uid`**: those of the given ones that are known, in order of registration, all in one
        answer. It goes with no other condition.
        """
        return await list_datasets(database, query, sight)


def _add_filling(router: APIRouter, context: DmsContext) -> None:
    @router.post(
        "",
        status_code=201,
        responses={200: {"model": Dataset}, **errors(Conflict, Unprocessable, NotAvailable)},
    )
    @allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.CHAINS, CallingService.INTAKE)
    async def register(
        new: NewDataset, request: Request, response: Response, by: Asking
    ) -> Dataset:
        """Registers a data set: 201. Its name is known and the request is the same: 200 with the
        first; it differs: 409.
        """
        if isinstance(principal_of(request.scope), Person):  # not a service for him
            require_no_kept_keys(new.meta)
        dataset, made = await register_dataset(context, new, by=by)
        response.status_code = 201 if made else 200
        return dataset

    @router.post("/{uid}/close", responses=errors(NotFound, Conflict, Unprocessable, NotAvailable))
    @allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.INTAKE)
    async def close(uid: UUID, request: CloseDataset) -> Dataset:
        """Closes the data set; with `files`, as soon as so many are registered (the answer's state
        says whether it is closed, `…/status` what it waits for). A wrong number is corrected by
        closing it again with another, until it is closed. Closing twice is fine. An input without
        files is refused.
        """
        return await close_dataset(context.database, uid, files=request.files)


def _add_reading(router: APIRouter, database: Database) -> None:
    @router.get("/{uid}", responses=errors(NotFound, NotAvailable))
    @allow(
        Role.VIEWER,
        CallingService.OPERATOR,
        CallingService.CHAINS,
        CallingService.INTAKE,
        CallingService.WMS,
    )
    async def dataset(uid: UUID, *, released: Released = False, copied: Copied = False) -> Dataset:
        """Reads a data set."""
        return await read_dataset(database, uid, released=released, copied=copied)

    @router.put("/{uid}/share", responses=errors(NotFound, Conflict, NotAvailable))
    @allow(Role.SHIFT, CallingService.OPERATOR)
    async def share(uid: UUID, request: Share, by: Asking) -> Dataset:
        """Says which groups see the data set beside its own, and whose it is: these, and no others
        any more.
        """
        return await share_dataset(database, uid, request, by=by)

    @router.get("/{uid}/status", responses=errors(NotFound, NotAvailable))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def status(uid: UUID) -> DatasetStatus:
        """Says whether a data set can be worked with. Where it waits for files: how many are
        missing, and which numbers no file has. Where its upload or deletion does not go on: why.
        """
        return await read_status(database, uid)


def _add_clearing(
    router: APIRouter,
    database: Database,
    *,
    on_deletion: Callable[[], None],
    on_resume: Callable[[], None],
) -> None:
    @router.post("/{uid}/resume", status_code=202, responses=errors(NotFound, NotAvailable))
    @allow(Role.SHIFT)
    async def resume(uid: UUID) -> Dataset:
        """Tries an upload or a deletion again that has stopped and waits for a person; nothing
        where nothing waits.
        """
        dataset = await resume_dataset(database, uid)
        on_resume()
        return dataset

    @router.delete("/{uid}", status_code=202, responses=errors(NotFound, Conflict, NotAvailable))
    @allow(CallingService.CHAINS)
    async def delete(
        uid: UUID,
        force: Annotated[
            bool, Query(description="Delete an output too, which may be the last copy.")
        ] = False,
        taken_back: Annotated[
            bool, Query(description="It held a version of an asset that nobody is given any more.")
        ] = False,
    ) -> Dataset:
        """Deletes the data set's files from here on, but those that other data sets hold and those
        on read-only storages. The DMS knows no chains: people ask the operator service, which has
        it refused while a chain needs the data set. Repeating it is fine, and sets a deletion going
        that was halted.
        """
        dataset = await request_deletion(database, uid, force=force, taken_back=taken_back)
        on_deletion()
        return dataset
