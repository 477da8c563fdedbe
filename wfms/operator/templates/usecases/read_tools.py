"""The library of tools."""

from sluice.contracts.templates.tools import Tool
from sluice.servicekit.database import Database
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import ToolUnknown


async def read_tools(database: Database) -> list[Tool]:
    """Return the newest version of each tool, by name, without the texts."""
    async with database.connection() as connection:
        newest_tools = await tools.list_newest_tools(connection)
    return [tool.model_copy(update={"cwl": None}) for tool in newest_tools]


async def read_tool_versions(database: Database, name: str) -> list[Tool]:
    """Return the versions of a tool with their texts, newest first.

    Raises:
        ToolUnknown: There is no such tool.
    """
    async with database.connection() as connection:
        versions = await tools.list_versions(connection, name)
    if not versions:
        raise ToolUnknown(name)
    return versions


async def read_tool(database: Database, name: str, *, version: int | None = None) -> Tool:
    """Return a version of a tool, by default the newest.

    Raises:
        ToolUnknown: There is no such tool or version.
    """
    versions = await read_tool_versions(database, name)
    for tool in versions:
        if version in {None, tool.version}:
            return tool
    raise ToolUnknown(name, version, versions=[tool.version for tool in versions])
