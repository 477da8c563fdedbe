"""What the operator service is asked about the library of tools."""

from urllib.parse import quote

from sluice.clients.base import API, ServiceClient
from sluice.contracts.tools import ComposeTools, Composition, NewTool, StoredTool, Tool, ToolList


class ToolCalls(ServiceClient):
    async def tools(self) -> ToolList:
        """The newest versions, by name."""
        return await self.call("GET", f"{API}/tools", answer=ToolList)

    async def tool(self, name: str, *, version: int | None = None) -> Tool:
        """Raises ``NotFound``."""
        return await self.call("GET", _path(name), answer=Tool, params={"version": version})

    async def tool_versions(self, name: str) -> ToolList:
        """The newest first. Raises ``NotFound``."""
        return await self.call("GET", f"{_path(name)}/versions", answer=ToolList)

    async def store_tool(self, new: NewTool) -> StoredTool:
        """Raises ``Unprocessable`` with every finding."""
        return await self.call("POST", f"{API}/tools", body=new, answer=StoredTool)

    async def remove_tool(self, name: str, *, version: int | None = None) -> None:
        """``version`` None: all. Raises ``NotFound``."""
        await self.call("DELETE", _path(name), params={"version": version})

    async def compose(self, asked: ComposeTools) -> Composition:
        """Raises ``NotFound`` for a tool, with those that fit; ``Unprocessable`` with every reason
        why they do not fit.
        """
        return await self.call("POST", f"{API}/pipelines/compose", body=asked, answer=Composition)


def _path(name: str) -> str:
    return f"{API}/tools/{quote(name, safe='')}"
