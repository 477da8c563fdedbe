"""List the versions of a template."""

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate


async def list_template_versions(database: Database, name: str) -> list[StoredTemplate]:
    """Return all versions that are not deleted, newest first, without their files."""
    async with database.connection() as connection:
        return await templates.list_versions(connection, current_visibility(), name)
