"""Reads stored templates: those that whoever asks sees."""

from uuid import UUID

from sluice.servicekit.access.behalf import sight_now
from sluice.servicekit.database import Database
from wfms.operator.db import run_templates, templates
from wfms.operator.domain.errors import TemplateUnknown
from wfms.operator.domain.template import StoredTemplate


async def read_templates(
    database: Database, *, every_version: bool = False, disabled: bool = False, text: bool = False
) -> list[StoredTemplate]:
    """Return templates by name, newest version first, without their files.

    Deleted ones are left out: they match nothing. So are disabled ones, unless they are wanted, or
    every version is. ``text``: with the workflow's text, where not every version is listed.
    """
    async with database.connection() as connection:
        if every_version:
            return await templates.all_versions(connection, sight_now())
        return await templates.all_latest(connection, sight_now(), disabled=disabled, text=text)


async def read_template(
    database: Database, name: str, *, version: int | None = None, deleted: bool = False
) -> StoredTemplate:
    """The latest version that is not deleted, or exactly ``version`` (with ``deleted`` also a
    deleted one). Raises ``TemplateUnknown``.
    """
    async with database.connection() as connection:
        if version is None:
            found = await templates.latest(connection, name, sight_now())
        else:
            found = await templates.version_of(connection, name, version, sight_now())
    if found is None or (found.deleted_at is not None and not deleted):
        raise TemplateUnknown(name, version)
    return found


async def read_versions(database: Database, name: str) -> list[StoredTemplate]:
    """All versions that are not deleted, newest first, without their files; empty when there is
    none.
    """
    async with database.connection() as connection:
        return await templates.all_versions(connection, sight_now(), name)


async def read_template_by_id(database: Database, template_id: UUID) -> StoredTemplate | None:
    """Also a deleted one, and one that came with a run: their chains show it."""
    sight = sight_now()
    async with database.connection() as connection:
        return await templates.template_by_id(
            connection, template_id, sight
        ) or await run_templates.run_template_by_id(connection, template_id, sight)
