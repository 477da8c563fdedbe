"""``/device``: approval of the sign-in of a command-line client."""

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.access.device_login import format_code
from sluice.contracts.common.problems import ServiceError
from wfms.operator.context import OperatorContext
from wfms.operator.http.access import caller
from wfms.operator.http.bridge import Bridge
from wfms.operator.identity.db.device_logins import DeviceLoginRow
from wfms.operator.identity.usecases.device_logins.begin_device_login import PAGE
from wfms.operator.identity.usecases.device_logins.decide_device_login import decide_device_login
from wfms.operator.identity.usecases.device_logins.get_pending_device_login import (
    get_pending_device_login,
)
from wfms.operator.web.framework.form_errors import parse_role
from wfms.operator.web.framework.page_routes import PageRoutes


class DeviceLoginPages:
    """The page where a person approves or refuses the sign-in of a command-line client."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(PAGE, "device", self.show, Role.VIEWER)
        pages.post(PAGE, "decide_device", self.decide, Role.VIEWER)

    def show(self) -> AnyResponse:
        """Show a form for the code or, if the address has a code, the sign-in of the code."""
        code = request.args.get("code", "")
        if not code:
            return _render_page()
        try:
            return _render_page(
                self._bridge.run(get_pending_device_login(self._context, code, by=caller()))
            )
        except ServiceError as error:
            return _render_page(refusal=error)

    def decide(self) -> AnyResponse:
        """Approve or refuse a sign-in."""
        code = request.form.get("code", "")
        lets_in = request.form.get("does") == "allow"
        try:
            role = parse_role(request.form.get("role", Role.VIEWER)) if lets_in else None
            decided = self._bridge.run(
                decide_device_login(self._context, code, by=caller(), role=role)
            )
        except ServiceError as error:
            return _render_page(refusal=error)
        does = f"is signed in as you, as {role}" if lets_in else "was refused"
        flash(f"{decided.label} {does}. You may close this page.")
        return redirect(url_for("pages.account"), 303)


def _render_page(
    login: DeviceLoginRow | None = None, refusal: ServiceError | None = None
) -> AnyResponse:
    page = render_template(
        "device.html",
        login=login,
        code=None if login is None else format_code(login.user_code),
        roles=[role for role in Role if caller().role.includes(role)],
        refusal=refusal,
    )
    return Response(page, status=refusal.status if refusal else 200, mimetype="text/html")
