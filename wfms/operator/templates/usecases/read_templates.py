"""Stored templates, as far as the principal may see them."""

from uuid import UUID

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import run_templates, templates
from wfms.operator.templates.domain.errors import TemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate


async def read_templates(
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


async def read_template(
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


async def read_versions(database: Database, name: str) -> list[StoredTemplate]:
    """Return all versions that are not deleted, newest first, without their files."""
    async with database.connection() as connection:
        return await templates.list_versions(connection, current_visibility(), name)


async def read_template_by_id(database: Database, template_id: UUID) -> StoredTemplate | None:
    """Return a template, even a deleted one or that of a run, because its chains show it."""
    visibility = current_visibility()
    async with database.connection() as connection:
        return await templates.find_template_by_id(
            connection, template_id, visibility
        ) or await run_templates.find_run_template_by_id(connection, template_id, visibility)
