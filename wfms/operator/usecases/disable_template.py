"""Disables a template, and enables it again."""

import structlog

from sluice.servicekit.database import Connection, Database
from wfms.operator.db import templates
from wfms.operator.domain.template import StoredTemplate
from wfms.operator.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)


async def disable_template(database: Database, name: str) -> StoredTemplate:
    """Precondition: none; repeating it is fine. Effect: no data set is matched with it, and nobody
    can ask for it; what is published under its name meanwhile is disabled too. Chains that run go
    on. Messages: none. Raises ``TemplateUnknown``, ``Forbidden``."""
    async with database.transaction() as transaction:
        await _locked(transaction.connection, name)
        await templates.mark_disabled(transaction.connection, name)
        found = await require_changeable(transaction.connection, name)
    log.info("template.disabled", template=name)
    return found


async def enable_template(database: Database, name: str) -> StoredTemplate:
    """Precondition: none; repeating it is fine. Effect: new data sets are matched with it again;
    those that came meanwhile are when somebody has them matched again. Messages: none. Raises
    ``TemplateUnknown``, ``Forbidden``."""
    async with database.transaction() as transaction:
        await _locked(transaction.connection, name)
        await templates.mark_enabled(transaction.connection, name)
        found = await require_changeable(transaction.connection, name)
    log.info("template.enabled", template=name)
    return found


async def _locked(connection: Connection, name: str) -> None:
    await templates.lock_name(connection, name)
    await require_changeable(connection, name)
