"""``/device``: somebody lets a command in, or doesn't."""

from flask import Response, flash, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access import Role
from sluice.contracts.device_login import shown_code
from sluice.contracts.problems import ServiceError, Unprocessable
from wfms.operator.api.access import caller
from wfms.operator.api.bridge import Bridge
from wfms.operator.api.pages.page_routes import PageRoutes
from wfms.operator.db.device_logins import DeviceLoginRow
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.device_login import PAGE


class DeviceLoginPages:
    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._logins = context.logins
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        pages.get(PAGE, "device", self.show, Role.VIEWER)
        pages.post(PAGE, "decide_device", self.decide, Role.VIEWER)

    def show(self) -> AnyResponse:
        """A form for the code, or, with one in the address, what waits with it."""
        code = request.args.get("code", "")
        if not code:
            return _page()
        try:
            return _page(self._bridge.run(self._logins.waiting(code, by=caller())))
        except ServiceError as error:
            return _page(refusal=error)

    def decide(self) -> AnyResponse:
        code = request.form.get("code", "")
        lets_in = request.form.get("does") == "allow"
        try:
            role = Role(request.form.get("role", Role.VIEWER)) if lets_in else None
            decided = self._bridge.run(self._logins.decide(code, by=caller(), role=role))
        except ServiceError as error:
            return _page(refusal=error)
        except ValueError as error:  # the form's role is none
            return _page(refusal=Unprocessable(str(error)))
        does = f"goes on as you, as {role}" if lets_in else "was refused"
        flash(f"{decided.label} {does}. You may close this page.")
        return redirect(url_for("pages.account"), 303)


def _page(login: DeviceLoginRow | None = None, refusal: ServiceError | None = None) -> AnyResponse:
    page = render_template(
        "device.html",
        login=login,
        code=None if login is None else shown_code(login.user_code),
        roles=[role for role in Role if caller().role.includes(role)],
        refusal=refusal,
    )
    return Response(page, status=refusal.status if refusal else 200, mimetype="text/html")
