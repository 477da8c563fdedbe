"""``/groups``: who is in them, and what they have, and may have."""

from flask import render_template

from sluice.contracts.access import Role
from wfms.operator.api.bridge import Bridge
from wfms.operator.api.pages.page_routes import PageRoutes
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.groups import read_groups


class GroupPages:
    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        pages.get("/groups", "groups", self.list, Role.VIEWER)

    def list(self) -> str:
        found = self._bridge.run(read_groups(self._context))
        return render_template("groups.html", groups=found.groups)
