"""List the versions of a tool."""

from sluice.contracts.templates.tools import Tool
from sluice.servicekit.database import Database
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import ToolUnknown


async def list_tool_versions(database: Database, name: str) -> list[Tool]:
    """Return the versions of a tool with their texts, newest first.

    Raises:
        ToolUnknown: There is no such tool.
    """
    async with database.connection() as connection:
        versions = await tools.list_versions(connection, name)
    if not versions:
        raise ToolUnknown(name)
    return versions
