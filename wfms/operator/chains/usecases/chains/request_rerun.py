"""Request the rerun of a chain."""

from uuid import UUID

from sluice.contracts.chains.chains import Chain, RerunChain
from wfms.operator.chains.usecases.chains.rerun_template import find_disabled_error
from wfms.operator.context import OperatorContext


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
    disabled = await find_disabled_error(context.database, await context.chains.get_chain(uid))
    if disabled is not None:
        raise disabled
    return await context.chains.rerun_chain(uid, request)
