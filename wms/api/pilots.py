"""Routes for operators: pilots."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from sluice.contracts.access import CallingService, Role
from sluice.contracts.attention import Acknowledge
from sluice.contracts.pilot_detail import PilotDetail
from sluice.contracts.pilot_list import PilotList
from sluice.contracts.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.warm_workers import LoadTool
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router, errors
from wms.db.pilot_pages import MOST, PilotQuery
from wms.usecases.acknowledge_pilot import acknowledge_pilot
from wms.usecases.context import WmsContext
from wms.usecases.drain_pilot import drain_pilot
from wms.usecases.list_pilots import list_pilots
from wms.usecases.load_tool import load_tool
from wms.usecases.read_pilot import read_pilot
from wms.usecases.remove_pilot import remove_pilot
from wms.usecases.stop_pilot import stop_pilot

Attention = Annotated[
    bool,
    Query(
        description="Lost ones that nobody has acknowledged and that did not start again, alone."
    ),
]


def pilots_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1/pilots", tags=["pilots"])

    @router.get("", responses=errors(Unprocessable))
    @allow(Role.VIEWER, CallingService.OPERATOR)
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
    @allow(CallingService.OPERATOR)
    async def drain(uid: UUID) -> None:
        """Asks a pilot to finish what it has and end: it gets no more jobs. Repeating it is
        fine."""
        await drain_pilot(context, uid)

    @router.get("/{uid}", responses=errors(NotFound))
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def pilot(uid: UUID, visibility: Seen) -> PilotDetail:
        """Reads a pilot with what it has, what it did last, and what failed there: of jobs that who
        asks sees."""
        return await read_pilot(context, uid, visibility)

    @router.post("/{uid}/stop", status_code=204, responses=errors(NotFound, Conflict))
    @allow(CallingService.OPERATOR)
    async def stop(uid: UUID) -> None:
        """Asks a pilot to stop its jobs, hand them back and end: others get them at once, and
        nothing counts against them. Repeating it is fine; one that has ended is refused (409)."""
        await stop_pilot(context, uid)

    @router.put("/{uid}/load", status_code=204, responses=errors(NotFound, Conflict))
    @allow(CallingService.OPERATOR)
    async def load(uid: UUID, asked: LoadTool) -> None:
        """Has a pilot finish what it has, and take jobs of a step before all others, so that its
        tool is loaded there; null: no step goes first any more. Repeating it is fine; one that
        takes no jobs is refused (409)."""
        await load_tool(context, uid, asked)

    @router.delete("/{uid}", status_code=204, responses=errors(NotFound, Conflict))
    @allow(CallingService.OPERATOR)
    async def remove(uid: UUID) -> None:
        """Takes a pilot off the lists that has ended or was lost; what it did stays known. One that
        is there is refused (409); one that comes back is listed again."""
        await remove_pilot(context, uid)

    @router.post("/{uid}/acknowledge", status_code=204, responses=errors(NotFound, Conflict))
    @allow(CallingService.OPERATOR)
    async def acknowledge(uid: UUID, asked: Acknowledge) -> None:
        """Says who has seen that a pilot was lost. Repeating it is fine; somebody else is told who
        was first (409)."""
        await acknowledge_pilot(context, uid, asked)

    return router
