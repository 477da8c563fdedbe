"""Pilots by the tokens that they are sent with: of a site, and their own."""

import time

from sluice.contracts.problems import Unauthenticated
from sluice.contracts.sites import SITE_TOKEN_PREFIX
from sluice.servicekit.access.principal import PilotCaller, Principal
from sluice.servicekit.access.tokens import PilotTokens
from sluice.servicekit.database import Database
from wms.db.sites import revoked_sites, site_by_token

#: Seconds for which it is remembered which sites were revoked.
REMEMBERED = 5.0


class KnownPilots:
    """Authenticator. ``own``: of the tokens that pilots are given."""

    def __init__(self, database: Database, own: PilotTokens) -> None:
        self._database = database
        self._own = own
        self._revoked = frozenset[object]()
        self._asked_at = -REMEMBERED

    async def principal(self, token: str) -> Principal | None:
        """Raises ``Unauthenticated`` for what is over, or was revoked."""
        if token.startswith(SITE_TOKEN_PREFIX):
            return await self._enrolling(token)
        found = await self._own.principal(token)
        if isinstance(found, PilotCaller) and found.site is not None:
            await self._ask()
            if found.site in self._revoked:
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

    async def _ask(self) -> None:
        now = time.monotonic()
        if now - self._asked_at >= REMEMBERED:
            self._asked_at = now
            async with self._database.connection() as connection:
                self._revoked = await revoked_sites(connection)
