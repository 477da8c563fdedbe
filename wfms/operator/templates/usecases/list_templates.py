"""List the stored templates that the principal may see."""

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate


async def list_templates(
    database: Database, *, every_version: bool = False, disabled: bool = False, text: bool = False
) -> list[StoredTemplate]:
    """Return templates by name, newest version first, without their files.

    Deleted templates are left out because they match nothing. Disabled ones are included only on
    request or with every version.

    Args:
        database: The database of the operator service.
        every_version: Return all versions instead of the latest ones.
        disabled: Include disabled templates.
        text: Include the text of the workflow; has no effect with ``every_version``.
    """
    async with database.connection() as connection:
        if every_version:
            return await templates.list_versions(connection, current_visibility())
        return await templates.list_latest(
            connection, current_visibility(), disabled=disabled, text=text
        )
