"""Sites that pilots come from: added, revoked, listed."""

import secrets

import structlog
from pydantic import SecretStr

from sluice.contracts.problems import Conflict, NotFound
from sluice.contracts.sites import SITE_TOKEN_PREFIX, GivenSite, NewSite, Site, SiteList
from sluice.servicekit.database import Database
from sluice.visible_text import quoted
from wms.db import sites

log = structlog.get_logger(__name__)


async def add_site(database: Database, new: NewSite) -> GivenSite:
    """Precondition: none. Effect: pilots may enrol with the token that is told this once. Messages:
    none. Raises ``Conflict``."""
    secret = SITE_TOKEN_PREFIX + secrets.token_urlsafe(32)
    async with database.transaction() as transaction:
        made = await sites.insert_site(transaction.connection, new, secret=secret)
    if made is None:
        raise Conflict(
            f"there is a site {quoted(new.name)}: revoke it first, or take another name",
            name=new.name,
        )
    log.info("site.added", site=new.name, expires_at=made.expires_at, most_pilots=new.most_pilots)
    return GivenSite(site=made, secret=SecretStr(secret))


async def revoke_site(database: Database, name: str) -> Site:
    """Precondition: none. Effect: its token and those of its pilots open nothing any more; their
    jobs run elsewhere when their leases have run out. Messages: none. Raises ``NotFound``."""
    async with database.transaction() as transaction:
        revoked = await sites.mark_site_revoked(transaction.connection, name)
    if revoked is None:
        raise NotFound(f"there is no site {quoted(name)}", name=name)
    log.info("site.revoked", site=name, pilots=revoked.pilots)
    return revoked


async def list_sites(database: Database) -> SiteList:
    async with database.connection() as connection:
        return SiteList(sites=await sites.all_sites(connection))
