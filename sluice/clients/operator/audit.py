"""Calls to the operator service about the audit log."""

from typing import Unpack

from sluice.clients.audit_filters import AuditFilters
from sluice.clients.base import API, ServiceClient
from sluice.contracts.access.audit import AuditPage, AuditVerdicts


class AuditCalls(ServiceClient):
    """Calls about the audit log."""

    async def list_audit_entries(
        self,
        *,
        after: str | None = None,
        limit: int | None = None,
        **filters: Unpack[AuditFilters],
    ) -> AuditPage:
        """Return a page of audit entries, newest first.

        Args:
            after: The ``after`` of the previous page.
            limit: The length of the page.
            **filters: Filters, all of which must match.
        """
        params = {**filters, "after": after, "limit": limit}
        return await self.call("GET", f"{API}/audit", answer=AuditPage, params=params)

    async def get_audit_verdicts(self) -> AuditVerdicts:
        """Check the audit logs of all services against their chains of digests."""
        return await self.call("GET", f"{API}/audit/verdict", answer=AuditVerdicts, seconds=300)
