"""Reads the library of tools."""

from sluice.contracts.tools import Tool
from sluice.servicekit.database import Database
from wfms.operator.db import tools
from wfms.operator.domain.errors import ToolUnknown


async def read_tools(database: Database) -> list[Tool]:
    """The newest version of each, by name, without their texts."""
    async with database.connection() as connection:
        found = await tools.newest_tools(connection)
    return [tool.model_copy(update={"cwl": None}) for tool in found]


async def read_tool_versions(database: Database, name: str) -> list[Tool]:
    """The newest first, with their texts. Raises ``ToolUnknown``."""
    async with database.connection() as connection:
        found = await tools.versions_of(connection, name)
    if not found:
        raise ToolUnknown(name)
    return found


async def read_tool(database: Database, name: str, *, version: int | None = None) -> Tool:
    """``version`` None: the newest. Raises ``ToolUnknown``."""
    found = await read_tool_versions(database, name)
    for tool in found:
        if version in {None, tool.version}:
            return tool
    raise ToolUnknown(name, version, known=[tool.version for tool in found])
