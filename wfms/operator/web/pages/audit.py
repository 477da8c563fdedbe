"""``/audit``: the audit log."""

from flask import render_template, request

from sluice.contracts.access.access import Role
from sluice.contracts.access.audit import AuditFilter
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.monitoring.usecases.check_audit import check_audit
from wfms.operator.monitoring.usecases.list_audit_events import list_audit_events
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes

#: Events on one page.
_PAGE = 25


class AuditPages:
    """The page of the audit log."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the page."""
        pages.get("/audit", "audit", self.list, Role.ADMIN, link=Link(LinkGroup.SYSTEM, "Audit"))

    def list(self) -> str:
        """Show the audit log, filtered by the query."""
        filters = {
            field: text
            for field, max_length in (("who", 200), ("what", 200), ("object", 240), ("after", 100))
            if (text := request.args.get(field, "").strip()[:max_length])
        }
        query = AuditFilter(**filters, limit=_PAGE)
        page = self._bridge.run(list_audit_events(self._context, query))
        checked = "check" in request.args
        verdicts = self._bridge.run(check_audit(self._context)).services if checked else []
        return render_template("audit.html", page=page, filters=filters, verdicts=verdicts)
