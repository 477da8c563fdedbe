"""Routes of append-only data sets and their slices."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from dms.api.dependencies import Context, Wakes
from dms.usecases.append_only.collect_files import collect_files
from dms.usecases.append_only.cut_slice import cut_slice
from dms.usecases.append_only.list_append_only import list_append_only
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.append_only import Collected, CollectFiles, CutAnswer, CutSlice
from sluice.contracts.data.append_only_list import AppendOnlyList
from sluice.servicekit.access.policy import VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

router = api_router("/api/v1", tags=["data sets"])


@router.get(
    "/append-only",
    operation_id="list_append_only_datasets",
    openapi_extra=client_hints(returns="datasets"),
    responses=errors(NotAvailable),
)
@allow(Role.VIEWER, CallingService.OPERATOR, CallingService.INTAKE, gateway=VIEWERS)
async def list_append_only_datasets_route(
    context: Context,
    visibility: CallerVisibility,
    uid: Annotated[UUID | None, Query(description="Only this data set.")] = None,
    generations: Annotated[
        bool,
        Query(description="Include the generations: how many chains followed one another."),
    ] = False,
) -> AppendOnlyList:
    """List append-only data sets, and the templates that take slices of them.

    Outputs of chains are appended to these data sets. The answer says how many files each
    template got.
    """
    return await list_append_only(context.database, visibility, uid=uid, generations=generations)


@router.post(
    "/datasets/{uid}/collect",
    operation_id="collect_files",
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(CallingService.CHAINS)
async def collect_files_route(
    context: Context,
    uid: UUID,
    request: CollectFiles,
    made_of: Annotated[
        UUID | None, Query(description="The input of the chain that wrote the files.")
    ] = None,
) -> Collected:
    """Append the files of a closed data set to an append-only data set, by reference.

    The append-only data set has the given name and group. A repeated request has no effect.
    """
    return await collect_files(context.database, uid, request, chain_input=made_of)


@router.post(
    "/datasets/{uid}/slices",
    operation_id="cut_slice",
    openapi_extra=client_hints(returns="dataset_uid"),
    responses=errors(NotFound, Conflict, NotAvailable),
)
@allow(CallingService.INTAKE)
async def cut_slice_route(
    context: Context, wakes: Wakes, uid: UUID, request: CutSlice
) -> CutAnswer:
    """Cut a slice of the files that the reader has not got yet: a data set that closes at once.

    There is no slice if there is no new file, or another request was faster.
    """
    answer = await cut_slice(context.database, uid, request)
    wakes.complete()
    return answer
