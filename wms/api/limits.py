"""Routes of limits on resources that are counted over all nodes."""

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import NotFound
from sluice.contracts.jobs.limits import LimitList, SetLimit
from sluice.contracts.jobs.resources import ResourceName
from sluice.servicekit.access.policy import ADMINS, VIEWERS, allow
from sluice.servicekit.web.http import api_router, errors
from wms.api.dependencies import Context
from wms.usecases.limits.list_limits import list_limits
from wms.usecases.limits.remove_limit import remove_limit
from wms.usecases.limits.set_limit import set_limit

router = api_router("/api/v1/limits", tags=["limits"])


@router.get("", operation_id="list_limits")
@allow(Role.VIEWER, CallingService.OPERATOR, gateway=VIEWERS)
async def list_limits_route(context: Context) -> LimitList:
    """List the limits on resources that are counted over all nodes.

    Each limit has its amount, how much of it is in use or spent, and how many waiting jobs need
    the resource.
    """
    return await list_limits(context)


@router.put("", operation_id="set_limit")
@allow(CallingService.OPERATOR, gateway=ADMINS)
async def set_limit_route(context: Context, new: SetLimit) -> LimitList:
    """Set the limit of a resource over all nodes.

    The amount holds at any time, or in each period (`minute`, `hour`, `day`, in UTC). Repeating
    it is fine.
    """
    await set_limit(context, new)
    return await list_limits(context)


@router.delete("/{name}", operation_id="remove_limit", responses=errors(NotFound))
@allow(CallingService.OPERATOR, gateway=ADMINS)
async def remove_limit_route(context: Context, name: ResourceName) -> LimitList:
    """Remove a limit. From then on only nodes that offer the resource have it."""
    await remove_limit(context, name)
    return await list_limits(context)
