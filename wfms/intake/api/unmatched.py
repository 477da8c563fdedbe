"""Routes of the intake."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.intake import Rematch, Rematched, UnmatchedList
from sluice.contracts.problems import NotAvailable, NotFound
from sluice.servicekit.database import Database
from sluice.servicekit.http import errors
from wfms.intake.db.intake import select_unmatched
from wfms.intake.usecases.rematch_dataset import rematch_dataset

Limit = Annotated[int, Query(ge=1, le=1000)]


def unmatched_routes(database: Database, *, dms: DmsClient, operator: OperatorClient, wake: Callable[[], None]) -> APIRouter:
    """``wake``: called when there is something to hand over."""
    router = APIRouter(prefix="/api/v1", tags=["unmatched"])

    @router.get("/unmatched")
    async def unmatched(limit: Limit = 200) -> UnmatchedList:
        """Data sets that no chain carries, with the reasons; newest first."""
        async with database.connection() as connection:
            return UnmatchedList(datasets=await select_unmatched(connection, limit=limit))

    @router.post("/rematch", responses=errors(NotFound, NotAvailable))
    async def rematch(request: Rematch) -> Rematched:
        """Match a data set again, after a template was added or changed."""
        rematched = await rematch_dataset(database, request.dataset_uid, dms=dms, operator=operator)
        wake()
        return rematched

    return router
