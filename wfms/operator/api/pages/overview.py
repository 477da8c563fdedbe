"""``/``: what runs, what ended, who works, what needs a person."""

from flask import Blueprint, Response, render_template

from wfms.operator.api.bridge import Bridge
from wfms.operator.api.dependencies import Dependencies
from wfms.operator.api.pages.rendering import live
from wfms.operator.domain.overview import Overview
from wfms.operator.usecases.read_overview import read_overview


class OverviewPages:
    def __init__(self, dependencies: Dependencies, bridge: Bridge) -> None:
        self._dependencies = dependencies
        self._bridge = bridge

    def add_to(self, pages: Blueprint) -> None:
        pages.add_url_rule("/", "overview", self.show)
        pages.add_url_rule("/live", "overview_live", self.live)

    def _read(self) -> Overview:
        use = self._dependencies
        return self._bridge.run(read_overview(use.database, chains=use.chains, wms=use.wms, intake=use.intake))

    def show(self) -> str:
        return render_template("overview.html", overview=self._read())

    def live(self) -> Response:
        return live({"overview": "parts/overview.html"}, again=True, overview=self._read())
