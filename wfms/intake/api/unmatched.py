"""Routes of the intake."""

from collections.abc import Callable
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.clients.dms import DmsClient
from sluice.clients.operator import OperatorClient
from sluice.contracts.intake import Rematch, Rematched, RematchedAll, TieList, UnmatchedList
from sluice.contracts.problems import Conflict, NotAvailable, NotFound
from sluice.servicekit.database import Database
from sluice.servicekit.http import errors
from wfms.intake.db.intake import count_unmatched, delete_unmatched, select_unmatched
from wfms.intake.db.ties import select_ties
from wfms.intake.usecases.rematch_all import rematch_all
from wfms.intake.usecases.rematch_dataset import NotUnmatched, rematch_dataset

Limit = Annotated[int, Query(ge=1, le=1000)]


def unmatched_router(
    database: Database, *, dms: DmsClient, operator: OperatorClient, wake: Callable[[], None]
) -> APIRouter:
    """``wake``: called when there is something to hand over."""
    router = APIRouter(prefix="/api/v1", tags=["unmatched"])

    @router.get("/unmatched")
    async def unmatched(limit: Limit = 200) -> UnmatchedList:
        """Data sets that no chain carries, with the reasons; newest first."""
        async with database.connection() as connection:
            return UnmatchedList(
                datasets=await select_unmatched(connection, limit=limit),
                total=await count_unmatched(connection),
            )

    @router.delete("/unmatched/{uid}", status_code=204, responses=errors(NotFound, NotAvailable))
    async def dismiss(uid: UUID) -> None:
        """Forget that this data set fitted no template: somebody has seen to it. It stays where it
        is."""
        async with database.transaction() as transaction:
            if not await delete_unmatched(transaction.connection, uid):
                raise NotUnmatched(uid)

    @router.get("/ties")
    async def ties(limit: Limit = 200) -> TieList:
        """Templates of one priority that matched the same data sets, the latest first."""
        async with database.connection() as connection:
            return TieList(ties=await select_ties(connection, limit=limit))

    @router.post("/rematch", responses=errors(NotFound, Conflict, NotAvailable))
    async def rematch(request: Rematch) -> Rematched:
        """Match a data set again, after a template was added or changed."""
        rematched = await rematch_dataset(database, request.dataset_uid, dms=dms, operator=operator)
        wake()
        return rematched

    @router.post("/rematch-all", responses=errors(NotAvailable))
    async def rematch_every() -> RematchedAll:
        """Match all unmatched data sets again; those that were deleted meanwhile are forgotten."""
        rematched = await rematch_all(database, dms=dms, operator=operator)
        wake()
        return rematched

    return router
