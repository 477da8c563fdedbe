"""Routes by which the operator service stores versions of assets.

People have no access to them: the routes of data sets refuse to fill, close or share the data set
of an asset to every caller. The operator service checks the right to the name of the asset.
"""

from uuid import UUID

from fastapi import Response

from dms.api.dependencies import Context
from dms.usecases.datasets.close_dataset import close_dataset
from dms.usecases.datasets.register_dataset import register_dataset
from dms.usecases.files.register_files import register_files
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.contracts.data.datasets import (
    CloseDataset,
    Dataset,
    NewDataset,
    NewFiles,
    RegistrationCounts,
)
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerPerson
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints

router = api_router("/api/v1/asset-datasets", tags=["data sets"])


@router.post(
    "",
    operation_id="register_asset_dataset",
    status_code=201,
    responses={200: {"model": Dataset}, **errors(Conflict, Unprocessable, NotAvailable)},
)
@allow(CallingService.OPERATOR)
async def register_asset_dataset_route(
    context: Context, new: NewDataset, response: Response, by: CallerPerson
) -> Dataset:
    """Register the data set of a version of an asset: 201.

    If its name is registered: 200 with the first one for the same request, 409 for another
    request.
    """
    dataset, created = await register_dataset(context, new, by=by, for_asset=True)
    response.status_code = 201 if created else 200
    return dataset


@router.post(
    "/{uid}/files",
    operation_id="register_asset_files",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(CallingService.OPERATOR)
async def register_asset_files_route(
    context: Context, uid: UUID, request: NewFiles, by: CallerPerson
) -> RegistrationCounts:
    """Register files that other versions of the asset have, all of them or none."""
    return await register_files(context, uid, request.files, by=by, for_asset=True)


@router.post(
    "/{uid}/close",
    operation_id="close_asset_dataset",
    openapi_extra=client_hints(flat_body=True),
    responses=errors(NotFound, Conflict, Unprocessable, NotAvailable),
)
@allow(CallingService.OPERATOR)
async def close_asset_dataset_route(context: Context, uid: UUID, request: CloseDataset) -> Dataset:
    """Close the data set of a version with its number of files. It may be repeated."""
    return await close_dataset(context.database, uid, files=request.files, for_asset=True)
