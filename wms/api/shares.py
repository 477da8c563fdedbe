"""Routes for operators: shares that groups have of the nodes."""

from fastapi import APIRouter

from sluice.contracts.access import CallingService
from sluice.contracts.groups import GroupShares, SetShare
from sluice.contracts.owners import GroupName
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router
from wms.usecases.context import WmsContext
from wms.usecases.group_shares import list_shares, set_group_share


def shares_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1/shares", tags=["groups"])

    @router.get("")
    @allow(CallingService.OPERATOR)
    async def shares(visibility: Seen) -> GroupShares:
        """Lists groups that have a weight, or work: what pilots have of it."""
        return await list_shares(context, visibility)

    @router.put("/{group}", status_code=204)
    @allow(CallingService.OPERATOR)
    async def set_(group: GroupName, new: SetShare) -> None:
        """Sets the weight of a group: where several have work for the same nodes, each gets as much
        of them as its weight is of all of theirs. Repeating it is fine."""
        await set_group_share(context, group, new)

    return router
