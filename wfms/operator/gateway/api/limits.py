"""``/api/v1/limits``: limits on resources that are counted over all nodes."""

from sluice.contracts.common.problems import NotAvailable, NotFound
from sluice.contracts.jobs.limits import LimitList, SetLimit
from sluice.servicekit.access.policy import ADMINS, VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route


class LimitRoutes:
    """The routes of limits."""

    def __init__(self, context: OperatorContext) -> None:
        self._wms = context.wms

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/limits", self.list, VIEWERS,
                  "List the limits on resources over all nodes: their amount, how much is in use"
                  " or spent, and how many waiting jobs need them.",
                  answer=LimitList, errors=(NotAvailable,)),
            Route("PUT", "/limits", self.set, ADMINS,
                  "Set the limit of a resource over all nodes: at any time, or in each period"
                  " (`minute`, `hour`, `day`, in UTC). Repeating it is fine.",
                  answer=LimitList, body=SetLimit, errors=(NotAvailable,)),
            Route("DELETE", "/limits/<string:name>", self.remove, ADMINS,
                  "Remove a limit. From then on only nodes that offer the resource have it.",
                  answer=LimitList, errors=(NotFound, NotAvailable)),
        ]  # fmt: skip

    async def list(self) -> LimitList:
        """List all limits."""
        return await self._wms.list_limits()

    async def set(self, body: SetLimit) -> LimitList:
        """Create or change a limit."""
        return await self._wms.set_limit(body)

    async def remove(self, name: str) -> LimitList:
        """Delete a limit."""
        return await self._wms.remove_limit(name)
