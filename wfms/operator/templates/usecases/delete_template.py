"""Deletion of templates."""

import structlog

from sluice.clients.chains import ChainsClient
from sluice.contracts.chains.chains import Chain, ChainListState
from sluice.contracts.common.states import ChainState
from sluice.contracts.templates.templates import RUN_VERSION
from wfms.operator.context import OperatorContext
from wfms.operator.templates.db import templates
from wfms.operator.templates.domain.errors import TemplateInUse
from wfms.operator.templates.usecases.template_owners import require_changeable

log = structlog.get_logger(__name__)

_PAGE = 1000


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
        running = await _list_running_chains(context.chains, name)
        if running:
            raise TemplateInUse(name, running)
    async with database.transaction() as transaction:
        await templates.lock_name(transaction.connection, name)
        versions = await templates.mark_versions_deleted(transaction.connection, name)
    log.info("template.deleted", template=name, versions=versions, force=force)
    return versions


async def _list_running_chains(chains: ChainsClient, template: str) -> list[Chain]:
    """Return the chains of any version of the template that have not ended, newest first.

    Chains of one-off runs are left out: their template is no version of the published one.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    running_chains: list[Chain] = []
    for state in (ChainListState(state) for state in ChainState if not state.final):
        after = None
        while True:
            page = await chains.list_chains(state=state, after=after, limit=_PAGE)
            chains_of_name = [chain for chain in page.chains if chain.template == template]
            running_chains += [
                chain for chain in chains_of_name if chain.template_version != RUN_VERSION
            ]
            after = page.after
            if after is None:
                break
    return sorted(running_chains, key=lambda chain: chain.created_at, reverse=True)
