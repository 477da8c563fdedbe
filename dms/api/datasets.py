"""Routes of data sets."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response

from dms.api.dependencies import Context, Wakes
from dms.usecases.datasets.close_dataset import close_dataset
from dms.usecases.datasets.get_dataset import get_dataset
from dms.usecases.datasets.get_dataset_status import get_dataset_status
from dms.usecases.datasets.list_datasets import DatasetQuery, list_datasets
from dms.usecases.datasets.list_stalled import list_stalled
from dms.usecases.datasets.register_dataset import register_dataset
from dms.usecases.datasets.request_deletion import request_deletion
from dms.usecases.datasets.resume_dataset import resume_dataset
from dms.usecases.datasets.share_dataset import share_dataset
from sluice.contracts.access.access import Role
from sluice.contracts.access.owners import Share
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    DatasetPage,
    DatasetStatus,
    NewDataset,
    StalledList,
)
from sluice.servicekit.access.policy import SUBMITTERS, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerPerson, CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

Released = Annotated[
    bool,
    Query(description="Include the number of released files, which steps no longer need."),
]

Copied = Annotated[
    bool,
    Query(description="Include whether the person who registered the data set has the originals."),
]


router = api_router("/api/v1/datasets", tags=["data sets"])


@router.get("", operation_id="list_datasets", responses=errors(Unprocessable, NotAvailable))
@allow(
    Role.VIEWER,
    CallingService.OPERATOR,
    CallingService.CHAINS,
    CallingService.INTAKE,
    CallingService.WATCHER,
    gateway=VIEWERS,
)
async def list_datasets_route(
    context: Context, query: Annotated[DatasetQuery, Query()], visibility: CallerVisibility
) -> DatasetPage:
    """List data sets in the order in which they closed, or in one of two other orders.

    **Without `state` and `name`**: the data sets that can be processed (closed, uploading,
    uploaded), in order of closing. A client sends the `after` of each answer with its next
    request. It then misses no data set and gets none twice, however many close at the same
    moment. The same holds for a client that sends the newest `timestamp` of the answers as
    `timestamp`. The timestamp of a closed data set is its closing time; these times are unique
    and appear in order.

    **With `state` or `name`**: in order of registration, in all states or the given ones. This
    order is for people: a data set whose registration takes long may appear before the cursor.
    People may name an output of a chain by the names of the chain's input and of the template's
    output, as `week.1.report`. With `newest` the last registered data set comes first. A cursor
    of one order is refused in the others.

    **With `uid`**: those of the given data sets that exist, in order of registration, in one
    answer. Other conditions are refused.
    """
    return await list_datasets(context.database, query, visibility)


@router.post(
    "",
    operation_id="make_dataset",
    openapi_extra=client_hints(returns_created=True),
    status_code=201,
    responses={200: {"model": Dataset}, **errors(Conflict, Unprocessable, NotAvailable)},
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.CHAINS, CallingService.INTAKE)
async def make_dataset_route(
    context: Context, new: NewDataset, response: Response, by: CallerPerson
) -> Dataset:
    """Register a data set: 201.

    If its name is registered: 200 with the first one for the same request, 409 for another
    request. Names that begin with `asset.` are reserved for assets.
    """
    dataset, created = await register_dataset(context, new, by=by)
    response.status_code = 201 if created else 200
    return dataset


@router.post(
    "/{uid}/close",
    operation_id="close_dataset",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.INTAKE, gateway=SUBMITTERS)
async def close_dataset_route(context: Context, uid: UUID, request: CloseDataset) -> Dataset:
    """Close a data set; with `files`, as soon as this number of files is registered.

    The state in the answer says whether the data set is closed, `…/status` what it waits for.
    Until it is closed, the number may be corrected by another request. The request may be
    repeated. An input without files is refused.
    """
    return await close_dataset(context.database, uid, files=request.files)


@router.get("/{uid}", operation_id="get_dataset", responses=errors(NotFound, NotAvailable))
@allow(
    Role.VIEWER,
    CallingService.OPERATOR,
    CallingService.CHAINS,
    CallingService.INTAKE,
    CallingService.WMS,
    gateway=VIEWERS,
)
async def get_dataset_route(
    context: Context, uid: UUID, *, released: Released = False, copied: Copied = False
) -> Dataset:
    """Return a data set."""
    return await get_dataset(context.database, uid, released=released, copied=copied)


@router.put(
    "/{uid}/share",
    operation_id="share_dataset",
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(Role.SHIFT, CallingService.OPERATOR)
async def share_dataset_route(
    context: Context, uid: UUID, request: Share, by: CallerPerson
) -> Dataset:
    """Set which groups see the data set beside its own, and optionally its own group.

    Groups that are not named no longer see it.
    """
    return await share_dataset(context.database, uid, request, by=by)


@router.get(
    "/{uid}/status", operation_id="get_dataset_status", responses=errors(NotFound, NotAvailable)
)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def get_dataset_status_route(context: Context, uid: UUID) -> DatasetStatus:
    """Return whether a data set can be processed, and what it waits for.

    If it waits for files, the answer says how many are missing, and which numbers no file has.
    If its upload or deletion makes no progress, the answer says why.
    """
    return await get_dataset_status(context.database, uid)


@router.post(
    "/{uid}/resume",
    operation_id="resume_dataset",
    status_code=202,
    responses=errors(NotFound, NotAvailable),
)
@allow(Role.SHIFT)
async def resume_dataset_route(context: Context, wakes: Wakes, uid: UUID) -> Dataset:
    """Resume a halted upload or deletion; without one, do nothing."""
    dataset = await resume_dataset(context.database, uid)
    wakes.resumption()
    return dataset


@router.delete(
    "/{uid}",
    operation_id="delete_dataset",
    status_code=202,
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.CHAINS)
async def delete_dataset_route(
    context: Context,
    wakes: Wakes,
    *,
    uid: UUID,
    force: Annotated[
        bool,
        Query(description="Delete the data set even if it is an output and may be the last copy."),
    ] = False,
    taken_back: Annotated[
        bool, Query(description="The data set is a withdrawn version of an asset.")
    ] = False,
) -> Dataset:
    """Delete a data set and its files.

    Files that other data sets hold, and files on read-only storages, stay. The DMS does not
    know chains. People send this request to the operator service, which refuses it while a
    chain needs the data set. The request may be repeated, and resumes a halted deletion.
    """
    dataset = await request_deletion(context.database, uid, force=force, withdrawn=taken_back)
    wakes.deletion()
    return dataset


stalled_router = api_router("/api/v1", tags=["data sets"])


@stalled_router.get(
    "/stalled", operation_id="list_stalled_transfers", responses=errors(NotAvailable)
)
@allow(Role.VIEWER, CallingService.OPERATOR)
async def list_stalled_transfers_route(
    context: Context,
    visibility: CallerVisibility,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> StalledList:
    """List uploads and deletions that failed several times or wait for a person, by reason."""
    return await list_stalled(context.database, limit=limit, visibility=visibility)
