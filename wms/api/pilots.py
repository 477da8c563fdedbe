"""Routes for operators: pilots."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.attention import Acknowledge
from sluice.contracts.pilots import PilotList
from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from sluice.servicekit.http import api_router, errors
from wms.db.pilot_pages import MOST, PilotQuery
from wms.usecases.acknowledge_pilot import acknowledge_pilot
from wms.usecases.context import WmsContext
from wms.usecases.drain_pilot import drain_pilot
from wms.usecases.list_pilots import list_pilots

Attention = Annotated[
    bool,
    Query(
        description="Lost ones that nobody has acknowledged and that did not start again, alone."
    ),
]


def pilots_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1/pilots", tags=["pilots"])

    @router.get("", responses=errors(Unprocessable))
    async def pilots(
        name: Annotated[str | None, Query(description="Those of this name.")] = None,
        attention: Attention = False,
        after: str | None = None,
        limit: Annotated[int | None, Query(ge=1, le=MOST)] = None,
    ) -> PilotList:
        """Lists pilots: those that are there come first, then lost ones that nobody has
        acknowledged, then what ended within a day; of each the latest first. `after`: the `next` of
        the page before. Without `limit`, the first 10 000 and no `next`."""
        return await list_pilots(context, PilotQuery(name, attention, after, limit))

    @router.post("/{uid}/drain", status_code=204, responses=errors(NotFound))
    async def drain(uid: UUID) -> None:
        """Asks a pilot to finish what it has and end: it gets no more jobs. Repeating it is
        fine."""
        await drain_pilot(context, uid)

    @router.post("/{uid}/acknowledge", status_code=204, responses=errors(NotFound, Conflict))
    async def acknowledge(uid: UUID, asked: Acknowledge) -> None:
        """Says who has seen that a pilot was lost. Repeating it is fine; somebody else is told who
        was first (409)."""
        await acknowledge_pilot(context, uid, asked)

    return router
