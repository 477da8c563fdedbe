"""``/chains/…/times``, ``/times``: how long the work of a chain or a template waits and runs."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from flask import Response, render_template, request

from sluice.contracts.access.access import Role
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.framework.rendering import live

#: Choices of the page: days to look back.
_DAYS = (1, 7, 30)


class TimesPages:
    """The pages of times."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/chains/<uuid:uid>/times", "chain_times", self.chain, Role.VIEWER, below="chains"
        )
        pages.get("/chains/<uuid:uid>/times/live", "chain_times_live", self.chain_live, Role.VIEWER)
        pages.get("/times", "times", self.period, Role.VIEWER, link=Link(LinkGroup.WORK, "Times"))

    def _read(self, uid: UUID) -> dict[str, object]:
        chain = self._bridge.run(self._context.chains.get_chain(uid))
        times = self._bridge.run(self._context.wms.get_times(chain_uid=[uid]))
        stamp = "" if chain.state.final else f"{datetime.now(UTC).timestamp():.0f}"
        return {"chain": chain, "times": times, "stamp": stamp}

    def chain(self, uid: UUID) -> str:
        """Show the times of a chain."""
        return render_template("chain_times.html", **self._read(uid))

    def chain_live(self, uid: UUID) -> Response:
        """Return the current times of a chain for a live update."""
        read = self._read(uid)
        return live({"times": "parts/chain_times.html"}, again=bool(read["stamp"]), **read)

    def period(self) -> str:
        """Show the times of a template, or of all templates, in the last days."""
        template = request.args.get("template") or None
        typed_days = request.args.get("days", "")
        days = next((number for number in _DAYS if str(number) == typed_days), _DAYS[0])
        since = datetime.now(UTC) - timedelta(days=days)
        times = self._bridge.run(self._context.wms.get_times(template=template, since=since))
        selection = {"template": template, "days": days, "choices": _DAYS, "since": since}
        return render_template("times.html", times=times, **selection)
