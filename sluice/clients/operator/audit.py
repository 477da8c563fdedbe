"""What the operator service is asked about who did what."""

from sluice.clients.base import API, ServiceClient
from sluice.contracts.audit import AuditPage, AuditVerdicts


class AuditCalls(ServiceClient):
    async def audit(self, **filters: object) -> AuditPage:
        """The newest first. ``filters``: ``who``, ``what``, ``object``, ``since``, ``until``,
        ``after``, ``limit``.
        """
        return await self.call("GET", f"{API}/audit", answer=AuditPage, params=filters)

    async def audit_verdicts(self) -> AuditVerdicts:
        return await self.call("GET", f"{API}/audit/verdict", answer=AuditVerdicts, seconds=300)
