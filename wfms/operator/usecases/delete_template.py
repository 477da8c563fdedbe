"""Deletion of templates."""

import structlog

from wfms.operator.db import templates
from wfms.operator.domain.errors import TemplateInUse
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_chain_list import running_chains
from wfms.operator.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)


async def delete_template(context: OperatorContext, name: str, *, force: bool = False) -> list[int]:
    """Delete all versions of a template and return their numbers.

    Running chains continue on their own copy of the plan.

    Raises:
        TemplateUnknown: There is no such template.
        Forbidden: The principal may not change the template.
        TemplateInUse: Chains of the template run and ``force`` is not set.
        NotAvailable: The chain service does not answer. ``force`` skips this check.
    """
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
