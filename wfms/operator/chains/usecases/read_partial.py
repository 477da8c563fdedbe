"""The partial outputs of a chain: what its steps wrote and still exists, and their logs."""

from uuid import UUID

from sluice.contracts.data.partial import PartialOutputs
from wfms.operator.chains.domain.errors import ChainNotEnded, NoPartialOutputs
from wfms.operator.chains.domain.partial import partial_outputs
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.read_templates import read_template_by_id


async def read_partial(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """Return what the steps of a chain wrote, and why parts of it are missing.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    template = await read_template_by_id(context.database, chain.template_id)
    uids = [entry.uid for entry in chain.datasets if entry.step is not None]
    datasets_by_uid = {
        dataset.uid: dataset for dataset in await context.dms.list_datasets_by_uid(uids)
    }
    plan = None if template is None else template.plan
    return PartialOutputs(chain=chain, outputs=partial_outputs(chain, datasets_by_uid, plan))


async def read_remaining_outputs(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """Return what can still be read of a chain that has ended.

    Raises:
        ChainNotEnded: The chain has not ended.
        NoPartialOutputs: The outputs can no longer be read.
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    partial = await read_partial(context, uid)
    if not partial.chain.state.final:
        raise ChainNotEnded(partial.chain)
    readable = [part for part in partial.outputs if part.readable]
    if not readable:
        raise NoPartialOutputs(partial.chain)
    return partial.model_copy(update={"outputs": readable})
