"""Requests to run a chain again."""

from uuid import UUID

from sluice.contracts.chains.chains import Chain, RerunChain, RerunPlan
from sluice.contracts.templates.templates import RUN_VERSION
from sluice.servicekit.database import Database
from wfms.operator.context import OperatorContext
from wfms.operator.templates.domain.errors import TemplateDisabled
from wfms.operator.templates.usecases.read_templates import read_template_by_id


async def request_rerun_plan(context: OperatorContext, uid: UUID, request: RerunChain) -> RerunPlan:
    """Return what ``request_rerun`` would do and what prevents it, including a disabled template.

    Raises:
        NotFound: There is no such chain.
        Conflict: The chain service rejects the rerun.
        Unprocessable: The chain service rejects the request.
        NotAvailable: The chain service does not answer.
    """
    plan = await context.chains.plan_rerun(uid, request)
    disabled = await _find_disabled_error(context.database, await context.chains.get_chain(uid))
    return (
        plan
        if disabled is None
        else plan.model_copy(update={"missing": [*plan.missing, disabled.detail]})
    )


async def request_rerun(
    context: OperatorContext, uid: UUID, request: RerunChain
) -> tuple[Chain, bool]:
    """Run a chain that has ended again, and return the chain and whether it is new.

    Raises:
        TemplateDisabled: The template of the chain is disabled.
        NotFound: There is no such chain.
        Conflict: The chain service rejects the rerun.
        Unprocessable: The chain service rejects the request.
        NotAvailable: The chain service does not answer.
    """
    disabled = await _find_disabled_error(context.database, await context.chains.get_chain(uid))
    if disabled is not None:
        raise disabled
    return await context.chains.rerun_chain(uid, request)


async def _find_disabled_error(database: Database, chain: Chain) -> TemplateDisabled | None:
    """Return the error if the template is disabled; that of a one-off run cannot be disabled."""
    if chain.template_version == RUN_VERSION:
        return None
    template = await read_template_by_id(database, chain.template_id)
    if template is None or template.disabled_at is None:
        return None
    return TemplateDisabled(template.name, template.disabled_at)
