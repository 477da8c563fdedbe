"""``/periods``, ``/runs/…``: periods of data taking, their runs and the runs' frames."""

from flask import render_template, request

from sluice.contracts.access import Role
from wfms.operator.api.bridge import Bridge
from wfms.operator.api.pages.page_routes import PageRoutes
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_periods import read_periods, read_run

#: Frames on one page.
_FRAMES = 200


class PeriodPages:
    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        pages.get("/periods", "periods", self.list, Role.VIEWER)
        pages.get("/runs/<int:number>", "run", self.run, Role.VIEWER)

    def list(self) -> str:
        return render_template(
            "periods.html", periods=self._bridge.run(read_periods(self._context))
        )

    def run(self, number: int) -> str:
        after = request.args.get("after", -1, type=int)
        found = self._bridge.run(read_run(self._context, number, after=after, limit=_FRAMES))
        return render_template("run.html", found=found)
