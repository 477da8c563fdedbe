"""``/api/v1/sites``: sites that pilots belong to."""

from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound
from sluice.contracts.pilots.sites import NewSite, NewSiteSecret, Site, SiteList
from sluice.servicekit.access.policy import ADMINS
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route


class SiteRoutes:
    """The routes of sites."""

    def __init__(self, context: OperatorContext) -> None:
        self._wms = context.wms

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/sites", self.list, ADMINS, "List the sites that pilots come from.",
                  answer=SiteList, errors=(NotAvailable,)),
            Route("POST", "/sites", self.add, ADMINS,
                  "Add a site, and return the token with which its pilots enrol, only this once.",
                  answer=NewSiteSecret, status=201, body=NewSite, errors=(Conflict, NotAvailable)),
            Route("DELETE", "/sites/<string:name>", self.revoke, ADMINS,
                  "Revoke a site: its pilots are no longer accepted. Their jobs run elsewhere"
                  " after their leases have expired.",
                  answer=Site, errors=(NotFound, NotAvailable)),
        ]  # fmt: skip

    async def list(self) -> SiteList:
        """List all sites."""
        return await self._wms.list_sites()

    async def add(self, body: NewSite) -> NewSiteSecret:
        """Create a site."""
        return await self._wms.add_site(body)

    async def revoke(self, name: str) -> Site:
        """Revoke a site."""
        return await self._wms.revoke_site(name)
