"""Reads templates that came with runs, and takes them off the list: those that whoever asks
sees.
"""

from dataclasses import dataclass
from uuid import UUID

import structlog

from sluice.servicekit.access.behalf import sight_now
from sluice.servicekit.database import Database
from wfms.operator.db import run_templates
from wfms.operator.domain.errors import RunTemplateUnknown
from wfms.operator.domain.template import StoredTemplate

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RunTemplates:
    """``after``: the one that the next page begins behind; None on the last."""

    templates: list[StoredTemplate]
    after: UUID | None


async def list_run_templates(
    database: Database, *, limit: int, after: UUID | None = None
) -> RunTemplates:
    """One page, the last one run first, without their files. Raises ``RunTemplateUnknown`` where
    there never was ``after``.
    """
    sight = sight_now()
    async with database.connection() as connection:
        before = after and await run_templates.run_template_by_id(connection, after, sight)
        if after is not None and before is None:
            raise RunTemplateUnknown(after)
        found = await run_templates.all_run(connection, sight, limit=limit + 1, after=after)
    return RunTemplates(found[:limit], found[limit - 1].id if len(found) > limit else None)


async def read_run_template(database: Database, template_id: UUID) -> StoredTemplate:
    """Also one that was deleted: its chains show it. Raises ``RunTemplateUnknown``."""
    async with database.connection() as connection:
        found = await run_templates.run_template_by_id(connection, template_id, sight_now())
    if found is None:
        raise RunTemplateUnknown(template_id)
    return found


async def delete_run_template(database: Database, template_id: UUID) -> None:
    """Precondition: none. Effect: it is not listed any more; chains of it go on, and show it.
    Messages: none. Raises ``RunTemplateUnknown``.
    """
    async with database.transaction() as transaction:
        connection = transaction.connection
        if not await run_templates.mark_unlisted(connection, template_id, sight_now()):
            raise RunTemplateUnknown(template_id)
    log.info("template.run_deleted", template_id=str(template_id))
