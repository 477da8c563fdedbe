"""Deletes a template: from now on it matches nothing."""

import structlog

from wfms.operator.db import templates
from wfms.operator.domain.errors import TemplateInUse
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_chain_list import running_chains
from wfms.operator.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)


async def delete_template(context: OperatorContext, name: str, *, force: bool = False) -> list[int]:
    """Precondition: no chain of it runs, or ``force``. Effect: all its versions are deleted; chains
    that run go on, on their own copy of the plan. Gives the versions. Messages: none. Raises
    ``TemplateUnknown``, ``Forbidden``, ``TemplateInUse``, and ``NotAvailable`` where the chain
    service cannot be asked (``force`` does not ask)."""
    database = context.database
    async with database.connection() as connection:
        await require_changeable(connection, name)
    if not force:
        running = await running_chains(context.chains, name)
        if running:
            raise TemplateInUse(name, running)
    async with database.transaction() as transaction:
        await templates.lock_name(transaction.connection, name)
        versions = await templates.mark_versions_deleted(transaction.connection, name)
    log.info("template.deleted", template=name, versions=versions, force=force)
    return versions
