"""Add a site that pilots come from."""

import secrets

import structlog
from pydantic import SecretStr

from sluice.contracts.common.problems import Conflict
from sluice.contracts.pilots.sites import SITE_TOKEN_PREFIX, NewSite, NewSiteSecret
from sluice.servicekit.database import Database
from sluice.text.visible_text import quoted
from wms.db.pilots import sites

log = structlog.get_logger(__name__)


async def add_site(database: Database, new: NewSite) -> NewSiteSecret:
    """Add a site and return the token with which its pilots enrol; it is shown only now.

    Raises:
        Conflict: There is a site of this name.
    """
    secret = SITE_TOKEN_PREFIX + secrets.token_urlsafe(32)
    async with database.transaction() as transaction:
        site = await sites.insert_site(transaction.connection, new, secret=secret)
    if site is None:
        raise Conflict(
            f"site {quoted(new.name)} already exists: revoke it first, or choose another name",
            name=new.name,
        )
    log.info("site.added", site=new.name, expires_at=site.expires_at, most_pilots=new.most_pilots)
    return NewSiteSecret(site=site, secret=SecretStr(secret))
