"""Remove versions of a tool."""

import structlog

from sluice.servicekit.database import Database
from wfms.operator.identity.db.name_owners import NamedKind
from wfms.operator.identity.usecases.name_owners import require_name
from wfms.operator.templates.db import tools
from wfms.operator.templates.domain.errors import ToolUnknown

log = structlog.get_logger(__name__)


async def remove_tool(database: Database, name: str, *, version: int | None = None) -> None:
    """Remove a version of a tool, or all versions, from the library.

    Templates that were composed of it have their own copy of its text.

    Raises:
        ToolUnknown: There is no such tool or version.
        NameOwnedByOthers: The principal may not change the tool.
    """
    async with database.transaction() as transaction:
        await tools.lock_tool(transaction.connection, name)
        await require_name(transaction.connection, NamedKind.TOOL, name)
        removed = await tools.mark_removed(transaction.connection, name, version=version)
    if not removed:
        raise ToolUnknown(name, version)
    log.info("tool.removed", tool=name, versions=removed)
