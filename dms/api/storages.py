"""Routes of storages."""

from typing import Annotated

from fastapi import Query, Response

from dms.api.dependencies import Context
from dms.usecases.storages.disable_storage import disable_storage
from dms.usecases.storages.enable_storage import enable_storage
from dms.usecases.storages.list_storages import list_storages
from dms.usecases.storages.list_stored_datasets import list_stored_datasets
from dms.usecases.storages.measure_storages import measure_storages
from dms.usecases.storages.register_storage import register_storage
from dms.usecases.storages.set_missing_space import set_missing_space
from dms.usecases.storages.set_watermarks import set_watermarks
from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.common.states import StorageType
from sluice.contracts.data.datasets import DatasetUids, NewStorage, Storage, Watermarks
from sluice.contracts.data.storage_space import SpaceNeeded, StorageSpace
from sluice.servicekit.access.policy import ADMINS, VIEWERS, allow
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

router = api_router("/api/v1/storages", tags=["storages"])


@router.post(
    "",
    operation_id="register_storage",
    status_code=201,
    responses={200: {"model": Storage}, **errors(Conflict, Unprocessable, NotAvailable)},
)
@allow(Role.ADMIN, CallingService.OPERATOR, CallingService.SETUP, gateway=ADMINS)
async def register_storage_route(context: Context, new: NewStorage, response: Response) -> Storage:
    """Register a storage.

    The answer is 201, or 200 with the first one for the same request again.
    It must be where the settings of the DMS allow storages (422), and separate from all others
    (409). It is probed: a small file is written, read and deleted. On a read-only storage, the
    list of files is read.
    """
    storage, created = await register_storage(context, new)
    response.status_code = 201 if created else 200
    return storage


@router.get("", operation_id="list_storages", responses=errors(NotAvailable))
@allow(
    Role.VIEWER,
    CallingService.OPERATOR,
    CallingService.CHAINS,
    CallingService.WMS,
    gateway=VIEWERS,
)
async def list_storages_route(
    context: Context,
    *,
    type: Annotated[StorageType | None, Query()] = None,
    name: Annotated[str | None, Query(description="Only the storage with this name.")] = None,
    all: Annotated[bool, Query(description="Include storages that get no new data sets.")] = False,
    measured: Annotated[
        bool, Query(description="Include the free space and the number of data sets.")
    ] = False,
) -> list[Storage]:
    """List the storages that get new data sets, those with the most free space first.

    With `all`, also disabled storages, and those that get no new data sets for another reason,
    which is their `warning`. With `name`, this storage, whether or not it gets new data sets.
    """
    everything = all or name is not None
    all_storages = await list_storages(context, type, everything=everything)
    selected = [storage for storage in all_storages if name in {None, storage.name}]
    return await measure_storages(context, selected) if measured else selected


@router.post(
    "/{name}/datasets",
    operation_id="find_datasets_on",
    openapi_extra=client_hints(flat_body=True, returns="uids"),
    responses=errors(NotFound, NotAvailable),
)
@allow(CallingService.CHAINS)
async def find_datasets_on_route(context: Context, name: str, request: DatasetUids) -> DatasetUids:
    """Return those of the data sets whose first file is on the storage.

    Nothing is changed.
    """
    return DatasetUids(uids=await list_stored_datasets(context.database, name, request.uids))


@router.post(
    "/{name}/disable", operation_id="disable_storage", responses=errors(NotFound, NotAvailable)
)
@allow(Role.ADMIN, CallingService.OPERATOR, gateway=ADMINS)
async def disable_storage_route(context: Context, name: str) -> Storage:
    """Disable a storage for new data sets.

    Its files can still be read and deleted. The request may be repeated.
    """
    return await disable_storage(context, name)


@router.post(
    "/{name}/enable",
    operation_id="enable_storage",
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(Role.ADMIN, CallingService.OPERATOR, gateway=ADMINS)
async def enable_storage_route(context: Context, name: str) -> Storage:
    """Enable a storage for new data sets again, if it could be registered now.

    The request may be repeated.
    """
    return await enable_storage(context, name)


@router.put(
    "/{name}/needed",
    operation_id="report_needed_space",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, NotAvailable),
)
@allow(CallingService.WMS)
async def report_needed_space_route(
    context: Context, name: str, request: SpaceNeeded
) -> StorageSpace:
    """Record that jobs wait for space on a storage, or wait no more; return its free space.

    The storage counts as full until a minute after the last such request. The request may be
    repeated.
    """
    return await set_missing_space(context, name, request.needed)


@router.put(
    "/{name}/marks",
    operation_id="mark_storage",
    responses=errors(NotFound, Unprocessable, NotAvailable),
)
@allow(Role.ADMIN, CallingService.OPERATOR, gateway=ADMINS)
async def mark_storage_route(context: Context, name: str, marks: Watermarks) -> Storage:
    """Set the watermarks of a storage.

    It counts as filling from its high watermark until it is below the low one. The request may
    be repeated.
    """
    return await set_watermarks(context, name, marks)


@router.delete(
    "/{name}/marks", operation_id="unmark_storage", responses=errors(NotFound, NotAvailable)
)
@allow(Role.ADMIN, CallingService.OPERATOR, gateway=ADMINS)
async def unmark_storage_route(context: Context, name: str) -> Storage:
    """Remove the watermarks of a storage.

    The request may be repeated.
    """
    return await set_watermarks(context, name, None)
