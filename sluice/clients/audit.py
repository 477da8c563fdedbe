"""Client of the audit log of a service."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.access.audit import AuditRows, AuditSearch, AuditVerdict


class AuditClient(ServiceClient):
    """Client of the audit log of a service."""

    service = "audit"

    async def list_first_rows(self, filters: AuditSearch) -> AuditRows:
        """Return the first row of each request, newest first."""
        params = filters.model_dump(mode="json")
        return await self.call("GET", f"{API}/audit", answer=AuditRows, params=params)

    async def list_rows(self, requests: Sequence[UUID]) -> AuditRows:
        """Return all rows of the given requests."""
        return await self.call(
            "GET", f"{API}/audit", answer=AuditRows, params={"request": list(requests)}
        )

    async def get_verdict(self) -> AuditVerdict:
        """Check the audit log against its chain of digests."""
        return await self.call("GET", f"{API}/audit/verdict", answer=AuditVerdict, seconds=300)
