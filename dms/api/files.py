"""Routes of the files of a data set."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from dms.usecases.context import DmsContext
from dms.usecases.list_files import list_files, read_file
from dms.usecases.look_at_files import look_at_files
from dms.usecases.register_files import register_files
from sluice.contracts.access import CallingService, Role
from sluice.contracts.claimed_files import FoundFaults, LookAtFiles
from sluice.contracts.datasets import (
    File,
    FilePage,
    NewFiles,
    Registered,
)
from sluice.contracts.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.servicekit.access.asking import Asking
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors

FileId = Annotated[int, Path(ge=1, le=2**63 - 1)]


def files_router(context: DmsContext, *, on_complete: Callable[[], None]) -> APIRouter:
    """``on_complete`` is called when files were added: a data set may be complete."""
    database = context.database
    router = api_router("/api/v1/datasets/{uid}/files", tags=["data sets"])

    @router.post("", responses=errors(NotFound, Conflict, Unprocessable, NotAvailable))
    @allow(Role.SUBMITTER, CallingService.OPERATOR, CallingService.WMS)
    async def add_files(uid: UUID, request: NewFiles, by: Asking) -> Registered:
        """Adds files; those that are registered and the same are counted as known. All or nothing.
        On storages of a file system each file has to be there, with the size given.
        """
        registered = await register_files(context, uid, request.files, by=by)
        on_complete()
        return registered

    @router.get(
        "", response_model=FilePage, responses=errors(NotFound, Unprocessable, NotAvailable)
    )
    @allow(Role.VIEWER, CallingService.OPERATOR, CallingService.WMS, CallingService.CHAINS)
    async def files(
        uid: UUID,
        after: Annotated[
            str | None, Query(description="Cursor of the last answer; none at the beginning.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
        *,
        released: Annotated[
            bool,
            Query(
                description=(
                    "With those that are deleted already, as all steps are done with them, each"
                    " marked as `released`."
                )
            ),
        ] = False,
    ) -> Response:
        """Lists the files of a data set in order of seq, then name."""
        found = await list_files(database, uid, after=after, limit=limit, released=released)
        return Response(found.model_dump_json(), media_type="application/json")

    @router.get("/{file}", response_model=File, responses=errors(NotFound, NotAvailable))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def file_of_dataset(uid: UUID, file: FileId) -> Response:
        """Reads what is registered of a file: its place, size, checksum and number."""
        return Response(
            (await read_file(database, uid, file)).model_dump_json(), media_type="application/json"
        )

    return router


def look_router(context: DmsContext) -> APIRouter:
    router = api_router("/api/v1/files", tags=["data sets"])

    @router.post("/look", responses=errors(Unprocessable, NotAvailable))
    @allow(CallingService.WMS)
    async def look(request: LookAtFiles) -> FoundFaults:
        """Looks whether files that need not be registered are there, with the size said, or with
        the content. Changes nothing.
        """
        faults = await look_at_files(context, request.files, content=request.content)
        return FoundFaults(faults=faults)

    return router
