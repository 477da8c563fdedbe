"""Routes of the files of a data set."""

from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response

from dms.api.dependencies import Context, Wakes
from dms.usecases.files.check_stated_files import check_stated_files
from dms.usecases.files.get_file import get_file
from dms.usecases.files.list_files import list_files
from dms.usecases.files.register_files import register_files
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import File, FilePage, NewFiles, RegistrationCounts
from sluice.contracts.data.stated_files import CheckFiles, FileFaults
from sluice.servicekit.access.policy import SUBMITTERS, VIEWERS, allow
from sluice.servicekit.access.principal_dependencies import CallerPerson
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

FileId = Annotated[int, Path(ge=1, le=2**63 - 1)]


router = api_router("/api/v1/datasets/{uid}/files", tags=["data sets"])


@router.post(
    "",
    operation_id="register_files",
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.WMS, gateway=SUBMITTERS)
async def register_files_route(
    context: Context, wakes: Wakes, *, uid: UUID, request: NewFiles, by: CallerPerson
) -> RegistrationCounts:
    """Register files of a data set, all of them or none.

    Registered files that are equal count as known. On a file system, each file must exist with
    the given size.
    """
    registered = await register_files(context, uid, request.files, by=by)
    wakes.complete()
    return registered


@router.get(
    "",
    operation_id="list_files",
    response_model=FilePage,
    responses=errors(NotFound, Unprocessable, NotAvailable),
)
@allow(
    Role.VIEWER,
    CallingService.OPERATOR,
    CallingService.WMS,
    CallingService.CHAINS,
    gateway=VIEWERS,
)
async def list_files_route(
    context: Context,
    uid: UUID,
    after: Annotated[
        str | None,
        Query(description="The `after` of the previous page. Omit it for the first page."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    *,
    released: Annotated[
        bool,
        Query(description="Include released files, each marked as `released`."),
    ] = False,
) -> Response:
    """List the files of a data set in order of number and name."""
    page = await list_files(context.database, uid, after=after, limit=limit, released=released)
    return Response(page.model_dump_json(), media_type="application/json")


@router.get(
    "/{file}",
    operation_id="get_file",
    response_model=File,
    responses=errors(NotFound, NotAvailable),
)
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def get_file_route(context: Context, uid: UUID, file: FileId) -> Response:
    """Return the record of a file: its place, size, checksum and number."""
    return Response(
        (await get_file(context.database, uid, file)).model_dump_json(),
        media_type="application/json",
    )


check_router = api_router("/api/v1/files", tags=["data sets"])


@check_router.post(
    "/look",
    operation_id="check_stated_files",
    openapi_extra=client_hints(retry=False, flat_body=True, returns="faults"),
    responses=errors(Unprocessable, NotAvailable),
)
@allow(CallingService.WMS)
async def check_stated_files_route(context: Context, request: CheckFiles) -> FileFaults:
    """Check whether files exist with the given size, or the given content.

    The files need not be registered. Nothing is changed.
    """
    faults = await check_stated_files(context, request.files, content=request.content)
    return FileFaults(faults=faults)
