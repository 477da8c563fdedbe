"""Return a version of a tool."""

from sluice.contracts.templates.tools import Tool
from sluice.servicekit.database import Database
from wfms.operator.templates.domain.errors import ToolUnknown
from wfms.operator.templates.usecases.tools.list_tool_versions import list_tool_versions


async def get_tool(database: Database, name: str, *, version: int | None = None) -> Tool:
    """Return a version of a tool, by default the newest.

    Raises:
        ToolUnknown: There is no such tool or version.
    """
    versions = await list_tool_versions(database, name)
    for tool in versions:
        if version in {None, tool.version}:
            return tool
    raise ToolUnknown(name, version, versions=[tool.version for tool in versions])
