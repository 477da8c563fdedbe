"""Asks the chain service to run a chain again, unless the chain's template is disabled."""

from uuid import UUID

from sluice.contracts.chains import Chain, RerunChain, RerunPlan
from sluice.contracts.templates import RUN_VERSION
from sluice.servicekit.database import Database
from wfms.operator.domain.errors import TemplateDisabled
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_templates import read_template_by_id


async def request_rerun_plan(context: OperatorContext, uid: UUID, asked: RerunChain) -> RerunPlan:
    """What ``request_rerun`` would do; that the template is disabled is among what is missing.
    Effect: none. Raises ``NotFound``, ``Conflict``, ``Unprocessable`` and ``NotAvailable`` of the
    chain service.
    """
    plan = await context.chains.plan_rerun(uid, asked)
    disabled = await _disabled(context.database, await context.chains.chain(uid))
    return (
        plan
        if disabled is None
        else plan.model_copy(update={"missing": [*plan.missing, disabled.detail]})
    )


async def request_rerun(
    context: OperatorContext, uid: UUID, asked: RerunChain
) -> tuple[Chain, bool]:
    """Precondition: the chain is over, and data sets may go through its template. Effect: the chain
    service's; whether the chain is new. Messages: none of ours. Raises ``TemplateDisabled``, and as
    ``request_rerun_plan``.
    """
    disabled = await _disabled(context.database, await context.chains.chain(uid))
    if disabled is not None:
        raise disabled
    return await context.chains.rerun_chain(uid, asked)


async def _disabled(database: Database, chain: Chain) -> TemplateDisabled | None:
    """What came with a run is nothing that anybody disables; what was deleted is not disabled."""
    if chain.template_version == RUN_VERSION:
        return None
    template = await read_template_by_id(database, chain.template_id)
    if template is None or template.disabled_at is None:
        return None
    return TemplateDisabled(template.name, template.disabled_at)
