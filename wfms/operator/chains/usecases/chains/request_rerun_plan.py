"""Request the plan of a rerun."""

from uuid import UUID

from sluice.contracts.chains.chains import RerunChain, RerunPlan
from wfms.operator.chains.usecases.chains.rerun_template import find_disabled_error
from wfms.operator.context import OperatorContext


async def request_rerun_plan(context: OperatorContext, uid: UUID, request: RerunChain) -> RerunPlan:
    """Return what ``request_rerun`` would do and what prevents it, including a disabled template.

    Raises:
        NotFound: There is no such chain.
        Conflict: The chain service rejects the rerun.
        Unprocessable: The chain service rejects the request.
        NotAvailable: The chain service does not answer.
    """
    plan = await context.chains.plan_rerun(uid, request)
    disabled = await find_disabled_error(context.database, await context.chains.get_chain(uid))
    return (
        plan
        if disabled is None
        else plan.model_copy(update={"missing": [*plan.missing, disabled.detail]})
    )
