"""``/api/v1/audit``: the audit log."""

from sluice.contracts.access.audit import AuditFilter, AuditPage, AuditVerdicts
from sluice.contracts.common.problems import NotAvailable, Unprocessable
from sluice.servicekit.access.policy import ADMINS
from sluice.servicekit.web.openapi import client_hints
from wfms.operator.context import OperatorContext
from wfms.operator.http.route import Route
from wfms.operator.monitoring.usecases.check_audit import check_audit
from wfms.operator.monitoring.usecases.list_audit_events import list_audit_events


class AuditRoutes:
    """The routes of the audit log."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        return [
            Route("GET", "/audit", "list_audit_entries", self.list, ADMINS,
                  "List audit events, newest first.",
                  answer=AuditPage, query=AuditFilter, errors=(Unprocessable, NotAvailable)),
            Route("GET", "/audit/verdict", "get_audit_verdicts", self.check, ADMINS,
                  "Verify the audit log of each service.",
                  answer=AuditVerdicts, errors=(NotAvailable,), client=client_hints(seconds=300)),
        ]  # fmt: skip

    async def list(self, query: AuditFilter) -> AuditPage:
        """List audit events."""
        return await list_audit_events(self._context, query)

    async def check(self) -> AuditVerdicts:
        """Check that the audit log of each service is unchanged."""
        return await check_audit(self._context)
