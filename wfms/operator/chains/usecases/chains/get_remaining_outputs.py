"""Return what can still be read of a chain that has ended."""

from uuid import UUID

from sluice.contracts.data.partial import PartialOutputs
from wfms.operator.chains.domain.errors import ChainNotEnded, NoPartialOutputs
from wfms.operator.chains.usecases.chains.get_partial_outputs import get_partial_outputs
from wfms.operator.context import OperatorContext


async def get_remaining_outputs(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """Return what can still be read of a chain that has ended.

    Raises:
        ChainNotEnded: The chain has not ended.
        NoPartialOutputs: The outputs can no longer be read.
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    partial = await get_partial_outputs(context, uid)
    if not partial.chain.state.final:
        raise ChainNotEnded(partial.chain)
    readable = [part for part in partial.outputs if part.readable]
    if not readable:
        raise NoPartialOutputs(partial.chain)
    return partial.model_copy(update={"outputs": readable})
