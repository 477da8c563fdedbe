"""Authentication of pilots by the token of their site, or by their own."""

import asyncio
import time
from uuid import UUID

from sluice.contracts.common.problems import Unauthenticated
from sluice.contracts.pilots.sites import SITE_TOKEN_PREFIX
from sluice.servicekit.access.principal import PilotCaller, Principal
from sluice.servicekit.access.tokens import PilotTokens
from sluice.servicekit.database import Database
from wms.db.pilots.sites import find_site_by_token, list_revoked_sites

#: Seconds for which the list of revoked sites is cached.
CACHE_SECONDS = 5.0


class RevokedSites:
    """Cached list of revoked sites."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._revoked_sites = frozenset[UUID]()
        self._fetched_at = -CACHE_SECONDS
        self._lock = asyncio.Lock()

    async def has(self, site: UUID) -> bool:
        """Return whether the site is revoked, as of a few seconds ago."""
        async with self._lock:
            if time.monotonic() - self._fetched_at >= CACHE_SECONDS:
                fetched_at = time.monotonic()
                async with self._database.connection() as connection:
                    self._revoked_sites = await list_revoked_sites(connection)
                self._fetched_at = fetched_at
        return site in self._revoked_sites


class PilotAuthenticator:
    """Authenticator of pilots; ``own_tokens`` authenticates the tokens that pilots were given."""

    def __init__(
        self, database: Database, own_tokens: PilotTokens, revoked_sites: RevokedSites
    ) -> None:
        self._database = database
        self._own_tokens = own_tokens
        self._revoked_sites = revoked_sites

    async def principal(self, token: str) -> Principal | None:
        """Return the pilot of the token, or None if the token is unknown.

        Raises:
            Unauthenticated: The token has expired or was revoked.
        """
        if token.startswith(SITE_TOKEN_PREFIX):
            return await self._authenticate_enrolling(token)
        caller = await self._own_tokens.principal(token)
        if (
            isinstance(caller, PilotCaller)
            and caller.site
            and await self._revoked_sites.has(caller.site)
        ):
            raise Unauthenticated("the site of this pilot was revoked")
        return caller

    async def _authenticate_enrolling(self, token: str) -> Principal | None:
        async with self._database.connection() as connection:
            site = await find_site_by_token(connection, token)
        if site is None:
            return None
        if site.revoked_at is not None:
            raise Unauthenticated(f"the site {site.name} was revoked")
        return PilotCaller(site=site.uid)
