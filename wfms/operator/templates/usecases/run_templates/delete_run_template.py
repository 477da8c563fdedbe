"""Remove the template of a one-off run from the list."""

from uuid import UUID

import structlog

from sluice.servicekit.access.delegation import current_visibility
from sluice.servicekit.database import Database
from wfms.operator.templates.db import run_templates
from wfms.operator.templates.domain.errors import RunTemplateUnknown

log = structlog.get_logger(__name__)


async def delete_run_template(database: Database, template_id: UUID) -> None:
    """Remove the template of a run from the list; its chains continue and still show it.

    Raises:
        RunTemplateUnknown: There is no such template on the list.
    """
    async with database.transaction() as transaction:
        connection = transaction.connection
        if not await run_templates.mark_unlisted(connection, template_id, current_visibility()):
            raise RunTemplateUnknown(template_id)
    log.info("template.run_deleted", template_id=str(template_id))
