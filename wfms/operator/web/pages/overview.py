"""``/``: running and finished work, pilots, and notices that need a person."""

from flask import Response, flash, redirect, render_template, request, session, url_for
from pydantic import ValidationError
from werkzeug.wrappers import Response as AnyResponse

from sluice.contracts.access.access import Role
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.common.numbers import format_count
from sluice.contracts.common.problems import ServiceError
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.monitoring.domain.overview import Overview
from wfms.operator.monitoring.usecases.acknowledge_notices import acknowledge_notices
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live
from wfms.operator.web.usecases.get_overview import get_overview

#: Key of the browser session that keeps the name that was entered last.
_NAME = "name"


class OverviewPages:
    """The overview page."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get("/", "overview", self.show, Role.VIEWER, link=Link(LinkGroup.WORK, "Overview"))
        pages.get("/live", "overview_live", self.live, Role.VIEWER)
        pages.post("/attention", "acknowledge", self.acknowledge, Role.SHIFT)

    def _read(self) -> dict[str, object]:
        overview: Overview = self._bridge.run(get_overview(self._context))
        return {"overview": overview, "name": session.get(_NAME, "")}

    def show(self) -> str:
        """Show the overview."""
        return render_template("overview.html", **self._read())

    def live(self) -> Response:
        """Return the current overview for a live update."""
        return live({"overview": "parts/overview.html"}, again=True, **self._read())

    def acknowledge(self) -> AnyResponse:
        """Acknowledge one notice, or all that the page showed."""
        everything = request.form.get("all") == "yes"
        notice_ids = request.form.getlist("shown" if everything else "id")
        try:
            acknowledgement = Acknowledge(by=request.form.get("by", ""))
            session[_NAME] = acknowledgement.by
            answers = self._bridge.run(
                acknowledge_notices(self._context, notice_ids, acknowledgement)
            )
            refusals = [] if everything else [refusal for refusal in answers if refusal is not None]
            for refusal_of_notice in refusals:
                flash(f"{refusal_of_notice.detail}.")
            if len(refusals) < len(answers) or everything:
                flash(f"{format_count(answers.count(None), 'notice', grouped=True)} acknowledged.")
        except ValidationError:
            flash("Nothing was acknowledged: give your name, with up to 100 characters.")
        except ServiceError as refusal:
            flash(f"Not everything was acknowledged: {refusal.detail}.")
        return redirect(url_for("pages.overview"), 303)
