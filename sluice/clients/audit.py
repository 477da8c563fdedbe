"""Client of what every service tells of its audit."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.audit import AuditRows, AuditSearch, AuditVerdict


class AuditClient(ServiceClient):
    service = "audit"

    async def first_rows(self, filters: AuditSearch) -> AuditRows:
        """Those that entries begin with, the newest first."""
        params = filters.model_dump(mode="json")
        return await self.call("GET", f"{API}/audit", answer=AuditRows, params=params)

    async def rows_of(self, requests: Sequence[UUID]) -> AuditRows:
        return await self.call(
            "GET", f"{API}/audit", answer=AuditRows, params={"request": list(requests)}
        )

    async def verdict(self) -> AuditVerdict:
        return await self.call("GET", f"{API}/audit/verdict", answer=AuditVerdict, seconds=300)
