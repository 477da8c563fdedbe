"""``/audit``: who did what."""

from flask import render_template, request

from sluice.contracts.access import Role
from sluice.servicekit.audit.router import read_place
from sluice.servicekit.audit.rows import AuditQuery
from wfms.operator.api.bridge import Bridge
from wfms.operator.api.pages.page_routes import PageRoutes
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_audit import check_audit, read_audit

#: Entries on one page.
_PAGE = 100


class AuditPages:
    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        pages.get("/audit", "audit", self.list, Role.ADMIN)

    def list(self) -> str:
        who, what = (request.args.get(field, "").strip()[:200] for field in ("who", "what"))
        before = read_place(request.args.get("before") or None)
        query = AuditQuery(who or None, what or None, before=before, limit=_PAGE)
        page = self._bridge.run(read_audit(self._context, query))
        checked = "check" in request.args
        verdicts = self._bridge.run(check_audit(self._context)).services if checked else []
        return render_template("audit.html", page=page, who=who, what=what, verdicts=verdicts)
