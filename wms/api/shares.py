"""Routes for operators: fair shares of groups."""

from sluice.contracts.access.groups import GroupShares, SetShare
from sluice.contracts.access.owners import GroupName
from sluice.contracts.access.services import CallingService
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router
from wms.api.dependencies import Context
from wms.usecases.limits.list_shares import list_shares
from wms.usecases.limits.set_group_share import set_group_share

router = api_router("/api/v1/shares", tags=["groups"])


@router.get("", operation_id="list_shares")
@allow(CallingService.OPERATOR)
async def list_shares_route(context: Context, visibility: CallerVisibility) -> GroupShares:
    """List the groups that have a weight or work.

    Each group has its weight and the number of its jobs that pilots have.
    """
    return await list_shares(context, visibility)


@router.put("/{group}", operation_id="set_share", status_code=204)
@allow(CallingService.OPERATOR)
async def set_share_route(context: Context, group: GroupName, new: SetShare) -> None:
    """Set the weight of a group.

    Groups with work for the same nodes share them in proportion to their weights. Repeating it
    is fine.
    """
    await set_group_share(context, group, new)
