"""Routes of sites that pilots come from."""

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.base import Name
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.contracts.pilots.sites import NewSite, NewSiteSecret, Site, SiteList
from sluice.servicekit.access.policy import ADMINS, allow
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wms.api.dependencies import Context
from wms.usecases.pilots.add_site import add_site
from wms.usecases.pilots.list_sites import list_sites
from wms.usecases.pilots.revoke_site import revoke_site

router = api_router("/api/v1/sites", tags=["sites"])


@router.get("", operation_id="list_sites")
@allow(CallingService.OPERATOR, gateway=ADMINS)
async def list_sites_route(context: Context) -> SiteList:
    """List the sites that pilots come from."""
    return await list_sites(context.database)


@router.post(
    "",
    operation_id="add_site",
    openapi_extra=client_hints(retry=False),
    status_code=201,
    responses=errors(Conflict),
)
@allow(CallingService.OPERATOR, gateway=ADMINS)
async def add_site_route(context: Context, new: NewSite) -> NewSiteSecret:
    """Add a site, and return the token with which its pilots enrol.

    The token is returned only this once.
    """
    return await add_site(context.database, new)


@router.delete("/{name}", operation_id="revoke_site", responses=errors(NotFound))
@allow(CallingService.OPERATOR, gateway=ADMINS)
async def revoke_site_route(context: Context, name: Name) -> Site:
    """Revoke a site: its token and the tokens of its pilots are no longer accepted.

    The jobs of its pilots run elsewhere after their leases have expired.
    """
    return await revoke_site(context.database, name)
