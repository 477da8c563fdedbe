"""``/periods``, ``/runs/…``: data-taking periods, their runs, and the frames of runs."""

from flask import render_template, request

from sluice.contracts.access.access import Role
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes
from wfms.operator.web.usecases.get_run import get_run
from wfms.operator.web.usecases.list_periods import list_periods

#: Frames on one page.
_FRAMES = 200


class PeriodPages:
    """The pages of periods and runs."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the pages."""
        pages.get(
            "/periods", "periods", self.list, Role.VIEWER, link=Link(LinkGroup.DATA, "Periods")
        )
        pages.get("/runs/<int:number>", "run", self.run, Role.VIEWER, below="periods")

    def list(self) -> str:
        """Show all periods."""
        return render_template(
            "periods.html", periods=self._bridge.run(list_periods(self._context))
        )

    def run(self, number: int) -> str:
        """Show a run with its frames."""
        after = request.args.get("after", -1, type=int)
        run_with_frames = self._bridge.run(
            get_run(self._context, number, after=after, limit=_FRAMES)
        )
        return render_template("run.html", detail=run_with_frames)
