"""Return the results of a chain."""

from uuid import UUID

from sluice.contracts.chains.chains import Chain, ChainOutput
from wfms.operator.chains.usecases.chains.list_outputs import list_outputs
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.find_template_by_id import find_template_by_id


async def get_outputs(context: OperatorContext, uid: UUID) -> tuple[Chain, list[ChainOutput]]:
    """Return a chain and those of its outputs that have a data set, in the order of the workflow.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    template = await find_template_by_id(context.database, chain.template_id)
    return chain, await list_outputs(context.dms, chain, template)
