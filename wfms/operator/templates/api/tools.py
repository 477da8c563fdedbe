"""``/api/v1/tools`` and ``/api/v1/pipelines/compose``: the tool library, and workflows from it."""

from typing import Annotated

from pydantic import Field

from sluice.contracts.common.base import Contract
from sluice.contracts.common.problems import Conflict, NotFound, Unprocessable
from sluice.contracts.templates.tools import (
    ComposeTools,
    Composition,
    NewTool,
    StoredTool,
    Tool,
    ToolList,
)
from sluice.servicekit.access.policy import SHIFT, SUBMITTERS, VIEWERS
from wfms.operator.context import OperatorContext
from wfms.operator.errors import RequestTooLarge
from wfms.operator.http.route import Route
from wfms.operator.templates.usecases.tools.compose_tools import compose_tools
from wfms.operator.templates.usecases.tools.get_tool import get_tool
from wfms.operator.templates.usecases.tools.list_tool_versions import list_tool_versions
from wfms.operator.templates.usecases.tools.list_tools import list_tools
from wfms.operator.templates.usecases.tools.remove_tool import remove_tool
from wfms.operator.templates.usecases.tools.store_tool import store_tool


class ToolVersionQuery(Contract):
    """Which version of a tool is meant.

    Attributes:
        version: By default the newest is read, and all are deleted.
    """

    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class ToolRoutes:
    """The routes of the tool library."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context
        self._database = context.database

    def routes(self) -> list[Route]:
        """Return the declarations of the routes."""
        name = "/tools/<name>"
        return [
            Route("GET", "/tools", "list_tools", self.list, VIEWERS,
                  "List the newest version of every tool in the library.", answer=ToolList),
            Route("POST", "/tools", "store_tool", self.store, SUBMITTERS,
                  "Store a CommandLineTool as the next version of a tool in the library.",
                  answer=StoredTool, body=NewTool, errors=(Unprocessable, RequestTooLarge)),
            Route("GET", name, "get_tool", self.read, VIEWERS, "Return a tool with its text.",
                  answer=Tool, query=ToolVersionQuery, errors=(NotFound,)),
            Route("GET", f"{name}/versions", "list_tool_versions", self.versions, VIEWERS,
                  "List the versions of a tool.",
                  answer=ToolList, errors=(NotFound,)),
            Route("DELETE", name, "remove_tool", self.remove, SHIFT,
                  "Remove a tool, or one version of it. Templates composed of it stay.",
                  status=204, query=ToolVersionQuery, errors=(NotFound,)),
            Route("POST", "/pipelines/compose", "compose", self.compose, SUBMITTERS,
                  "Compose a workflow of tools in the library, and publish it on request.",
                  answer=Composition, body=ComposeTools,
                  errors=(NotFound, Conflict, Unprocessable, RequestTooLarge)),
        ]  # fmt: skip

    async def list(self) -> ToolList:
        """List the newest versions of all tools."""
        return ToolList(tools=await list_tools(self._database))

    async def store(self, body: NewTool) -> StoredTool:
        """Store a tool as its next version."""
        return await store_tool(self._context, body)

    async def read(self, name: str, query: ToolVersionQuery) -> Tool:
        """Return a tool with its text."""
        return await get_tool(self._database, name, version=query.version)

    async def versions(self, name: str) -> ToolList:
        """List the versions of a tool."""
        return ToolList(tools=await list_tool_versions(self._database, name))

    async def remove(self, name: str, query: ToolVersionQuery) -> None:
        """Delete a tool, or one version of it."""
        await remove_tool(self._database, name, version=query.version)

    async def compose(self, body: ComposeTools) -> Composition:
        """Compose a workflow from tools of the library."""
        return await compose_tools(self._context, body)
