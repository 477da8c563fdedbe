"""Authentication of pilots by the token of their site, or by their own."""

import asyncio
import time
from uuid import UUID

from sluice.contracts.common.problems import Unauthenticated
from sluice.contracts.pilots.sites import SITE_TOKEN_PREFIX
from sluice.servicekit.access.principal import PilotCaller, Principal
from sluice.servicekit.access.tokens import PilotTokens
from sluice.servicekit.database import Database
from wms.db.pilots.sites import revoked_sites, site_by_token

#: Seconds for which the list of revoked sites is cached.
REMEMBERED = 5.0


class RevokedSites:
    """Cached list of revoked sites."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known = frozenset[UUID]()
        self._asked_at = -REMEMBERED
        self._asking = asyncio.Lock()

    async def has(self, site: UUID) -> bool:
        """Return whether the site is revoked, as of a few seconds ago."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= REMEMBERED:
                asked_at = time.monotonic()
                async with self._database.connection() as connection:
                    self._known = await revoked_sites(connection)
                self._asked_at = asked_at
        return site in self._known


class PilotAuthenticator:
    """Authenticator of pilots; ``own`` authenticates the tokens that pilots were given."""

    def __init__(self, database: Database, own: PilotTokens, revoked: RevokedSites) -> None:
        self._database = database
        self._own = own
        self._revoked = revoked

    async def principal(self, token: str) -> Principal | None:
        """Return the pilot of the token, or None if the token is unknown.

        Raises:
            Unauthenticated: The token has expired or was revoked.
        """
        if token.startswith(SITE_TOKEN_PREFIX):
            return await self._enrolling(token)
        found = await self._own.principal(token)
        if isinstance(found, PilotCaller) and found.site and await self._revoked.has(found.site):
            raise Unauthenticated("the site of this pilot was revoked")
        return found

    async def _enrolling(self, token: str) -> Principal | None:
        async with self._database.connection() as connection:
            site = await site_by_token(connection, token)
        if site is None:
            return None
        if site.revoked_at is not None:
            raise Unauthenticated(f"the site {site.name} was revoked")
        return PilotCaller(site=site.uid)
