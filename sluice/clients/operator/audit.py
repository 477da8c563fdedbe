"""Calls to the operator service about the audit log."""

from sluice.clients.base import API, ServiceClient
from sluice.contracts.access.audit import AuditPage, AuditVerdicts


class AuditCalls(ServiceClient):
    """Calls about the audit log."""

    async def audit(self, **filters: object) -> AuditPage:
        """Return a page of audit entries, newest first.

        Filters are ``who``, ``what``, ``object``, ``since``, ``until``, ``after`` and ``limit``.
        """
        return await self.call("GET", f"{API}/audit", answer=AuditPage, params=filters)

    async def audit_verdicts(self) -> AuditVerdicts:
        """Check the audit logs of all services against their chains of digests."""
        return await self.call("GET", f"{API}/audit/verdict", answer=AuditVerdicts, seconds=300)
