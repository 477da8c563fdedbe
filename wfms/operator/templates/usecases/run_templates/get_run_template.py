"""Return the template of a one-off run."""

from uuid import UUID

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.errors import RunTemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate


async def get_run_template(database: Database, template_id: UUID) -> StoredTemplate:
    """Return the template of a run, even if it was deleted, because its chains show it.

    Raises:
        RunTemplateUnknown: There is no such template.
    """
    async with database.connection() as connection:
        template = await run_templates.find_run_template_by_id(
            connection, template_id, current_visibility()
        )
    if template is None:
        raise RunTemplateUnknown(template_id)
    return template
