"""``/storages``: fill level of each storage, and whether and why it gets new data."""

from flask import render_template

from sluice.contracts.access.access import Role
from wfms.operator.context import OperatorContext
from wfms.operator.http.bridge import Bridge
from wfms.operator.web.domain.storage_lines import StorageLine
from wfms.operator.web.framework.navigation import Link, LinkGroup
from wfms.operator.web.framework.page_routes import PageRoutes


class StoragePages:
    """The page of storages."""

    def __init__(self, context: OperatorContext, bridge: Bridge) -> None:
        self._dms = context.dms
        self._bridge = bridge

    def add_to(self, pages: PageRoutes) -> None:
        """Register the page."""
        pages.get(
            "/storages", "storages", self.list, Role.VIEWER, link=Link(LinkGroup.DATA, "Storages")
        )

    def list(self) -> str:
        """Show all storages."""
        storages = self._bridge.run(self._dms.list_storages(all=True, measured=True))
        return render_template(
            "storages.html", lines=[StorageLine(storage) for storage in storages]
        )
