"""Routes of storages."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from dms.usecases.list_storages import list_storages
from dms.usecases.register_storage import register_storage
from sluice.contracts.datasets import NewStorage, Storage
from sluice.contracts.problems import Conflict, NotAvailable, Unprocessable
from sluice.contracts.states import StorageType
from sluice.servicekit.database import Database
from sluice.servicekit.http import errors


def storages_router(database: Database) -> APIRouter:
    router = APIRouter(prefix="/api/v1/storages", tags=["storages"])

    @router.post("", status_code=201, responses={200: {"model": Storage}, **errors(Conflict, Unprocessable, NotAvailable)})
    async def register(new: NewStorage, response: Response) -> Storage:
        """Registers a storage: 201; the same again: 200 with the first."""
        storage, made = await register_storage(database, new)
        response.status_code = 201 if made else 200
        return storage

    @router.get("", responses=errors(NotAvailable))
    async def storages(type: Annotated[StorageType | None, Query()] = None) -> list[Storage]:
        """Enabled storages, those with the most free space first; none is an empty list."""
        return await list_storages(database, type)

    return router
