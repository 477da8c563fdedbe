"""Find a template by its id."""

from uuid import UUID

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import run_templates, templates
from wfms.operator.templates.domain.template import StoredTemplate


async def find_template_by_id(database: Database, template_id: UUID) -> StoredTemplate | None:
    """Return a template, even a deleted one or that of a run, because its chains show it."""
    visibility = current_visibility()
    async with database.connection() as connection:
        return await templates.find_template_by_id(
            connection, template_id, visibility
        ) or await run_templates.find_run_template_by_id(connection, template_id, visibility)
