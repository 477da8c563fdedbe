"""Revoke the token of a site."""

import structlog

from sluice.contracts.common.problems import NotFound
from sluice.contracts.pilots.sites import Site
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted
from wms.db.pilots import sites

log = structlog.get_logger(__name__)


async def revoke_site(database: Database, name: str) -> Site:
    """Revoke the token of a site and the tokens of its pilots.

    Their jobs run elsewhere after their leases have expired.

    Raises:
        NotFound: There is no such site.
    """
    async with database.transaction() as transaction:
        revoked = await sites.mark_site_revoked(transaction.connection, name)
    if revoked is None:
        raise NotFound(f"there is no site {quoted(name)}", name=name)
    log.info("site.revoked", site=name, pilots=revoked.pilots)
    return revoked
