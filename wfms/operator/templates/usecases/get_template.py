"""Return a version of a template."""

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.errors import TemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate


async def get_template(
    database: Database, name: str, *, version: int | None = None, deleted: bool = False
) -> StoredTemplate:
    """Return the latest version of a template, or the requested one.

    Args:
        database: The database of the operator service.
        name: The name of the template.
        version: The version; None for the latest that is not deleted.
        deleted: Whether the requested version may be deleted.

    Raises:
        TemplateUnknown: There is no such version.
    """
    async with database.connection() as connection:
        if version is None:
            template = await templates.find_latest(connection, name, current_visibility())
        else:
            template = await templates.find_version(connection, name, version, current_visibility())
    if template is None or (template.deleted_at is not None and not deleted):
        raise TemplateUnknown(name, version)
    return template
