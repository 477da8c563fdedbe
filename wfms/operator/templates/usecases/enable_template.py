"""Enable a template."""

import structlog

from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.template_lock import lock_changeable
from wfms.operator.templates.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)


async def enable_template(database: Database, name: str) -> StoredTemplate:
    """Enable a template so that it matches new data sets again.

    Data sets that arrived while it was disabled are matched only when somebody requests it.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The principal may not change the template.
    """
    async with database.transaction() as transaction:
        await lock_changeable(transaction.connection, name)
        await templates.mark_enabled(transaction.connection, name)
        template = await require_changeable(transaction.connection, name)
    log.info("template.enabled", template=name)
    return template
