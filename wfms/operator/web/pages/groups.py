"""``/groups``: members, weights and quotas of groups."""

from flask import render_template

from sluice.contracts.access.access import Role
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.identity.usecases.groups.list_groups import list_groups
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes


class GroupPages:
    """The page of groups."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._context = context
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the page."""
        pages.get(
            "/groups", "groups", self.list, Role.VIEWER, link=Link(LinkGroup.SYSTEM, "Groups")
        )

    def list(self) -> str:
        """Show the groups that the person may see."""
        group_list = self._bridge.run(list_groups(self._context))
        return render_template("groups.html", groups=group_list.groups)
