"""List the templates of one-off runs."""

from dataclasses import dataclass
from uuid import UUID

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.errors import RunTemplateUnknown
from wfms.operator.templates.domain.template import StoredTemplate


@dataclass(frozen=True, slots=True)
class RunTemplates:
    """A page of templates; ``after`` is the last one of it, or None on the last page."""

    templates: list[StoredTemplate]
    after: UUID | None


async def list_run_templates(
    database: Database, *, limit: int, after: UUID | None = None
) -> RunTemplates:
    """Return one page of templates without their files, the one that ran last first.

    Raises:
        RunTemplateUnknown: The template ``after`` never existed.
    """
    visibility = current_visibility()
    async with database.connection() as connection:
        before = after and await run_templates.find_run_template_by_id(
            connection, after, visibility
        )
        if after is not None and before is None:
            raise RunTemplateUnknown(after)
        page = await run_templates.list_run(connection, visibility, limit=limit + 1, after=after)
    return RunTemplates(page[:limit], page[limit - 1].id if len(page) > limit else None)
