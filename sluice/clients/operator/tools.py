"""Calls to the operator service about the library of tools."""

from sluice.clients.base import API, ServiceClient, build_path
from sluice.contracts.templates.tools import (
    ComposeTools,
    Composition,
    NewTool,
    StoredTool,
    Tool,
    ToolList,
)


class ToolCalls(ServiceClient):
    """Calls about tools."""

    async def list_tools(self) -> ToolList:
        """Return the newest versions of all tools, by name."""
        return await self.call("GET", f"{API}/tools", answer=ToolList)

    async def get_tool(self, name: str, *, version: int | None = None) -> Tool:
        """Return a tool.

        Raises:
            NotFound: There is no such tool or version.
        """
        return await self.call("GET", _path(name), answer=Tool, params={"version": version})

    async def store_tool(self, new: NewTool) -> StoredTool:
        """Store a tool.

        Raises:
            Unprocessable: The tool has errors. The error has all findings.
        """
        return await self.call("POST", f"{API}/tools", body=new, answer=StoredTool)

    async def remove_tool(self, name: str, *, version: int | None = None) -> None:
        """Remove a version of a tool, or all versions.

        Raises:
            NotFound: There is no such tool or version.
        """
        await self.call("DELETE", _path(name), params={"version": version})

    async def compose(self, request: ComposeTools) -> Composition:
        """Compose a workflow from tools.

        Raises:
            NotFound: A tool does not exist. The error names similar tools.
            Unprocessable: The tools do not fit. The error has all reasons.
        """
        return await self.call("POST", f"{API}/pipelines/compose", body=request, answer=Composition)


def _path(name: str) -> str:
    return build_path("tools", name)
