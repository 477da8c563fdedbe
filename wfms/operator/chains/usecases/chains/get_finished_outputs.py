"""Return the results of a finished chain."""

from uuid import UUID

from sluice.contracts.chains.chains import Chain, ChainOutput
from sluice.contracts.common.states import ChainState
from wfms.operator.chains.domain.errors import NoOutputs
from wfms.operator.chains.usecases.chains.get_outputs import get_outputs
from wfms.operator.context import OperatorContext


async def get_finished_outputs(
    context: OperatorContext, uid: UUID
) -> tuple[Chain, list[ChainOutput]]:
    """Return the outputs of a finished chain, as ``get_outputs`` does.

    Raises:
        NoOutputs: The chain has not finished or has no outputs.
    """
    chain, outputs = await get_outputs(context, uid)
    if chain.state is not ChainState.FINISHED or not outputs:
        raise NoOutputs(chain)
    return chain, outputs
