"""List the tools of the library."""

from sluice.contracts.templates.tools import Tool
from sluice.servicekit.database import Database
from wfms.operator.templates.db import tools


async def list_tools(database: Database) -> list[Tool]:
    """Return the newest version of each tool, by name, without the texts."""
    async with database.connection() as connection:
        newest_tools = await tools.list_newest_tools(connection)
    return [tool.model_copy(update={"cwl": None}) for tool in newest_tools]
