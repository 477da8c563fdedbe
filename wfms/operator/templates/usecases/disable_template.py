"""Disable a template."""

import structlog

from sluice.servicekit.database import Database
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.template import StoredTemplate
from wfms.operator.templates.usecases.template_lock import lock_changeable
from wfms.operator.templates.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)


async def disable_template(database: Database, name: str) -> StoredTemplate:
    """Disable a template, including versions that are published later.

    A disabled template matches no data set and cannot be requested. Running chains continue.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The principal may not change the template.
    """
    async with database.transaction() as transaction:
        await lock_changeable(transaction.connection, name)
        await templates.mark_disabled(transaction.connection, name)
        template = await require_changeable(transaction.connection, name)
    log.info("template.disabled", template=name)
    return template
