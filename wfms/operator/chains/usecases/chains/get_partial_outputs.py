"""Return the partial outputs of a chain: what its steps wrote and still exists, and their logs."""

from uuid import UUID

from sluice.contracts.data.partial import PartialOutputs
from wfms.operator.chains.domain.partial import partial_outputs
from wfms.operator.context import OperatorContext
from wfms.operator.templates.usecases.find_template_by_id import find_template_by_id


async def get_partial_outputs(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """Return what the steps of a chain wrote, and why parts of it are missing.

    Raises:
        NotFound: There is no such chain.
        NotAvailable: The chain service or the DMS does not answer.
    """
    chain = await context.chains.get_chain(uid)
    template = await find_template_by_id(context.database, chain.template_id)
    uids = [entry.uid for entry in chain.datasets if entry.step is not None]
    datasets_by_uid = {
        dataset.uid: dataset for dataset in await context.dms.list_datasets_by_uid(uids)
    }
    plan = None if template is None else template.plan
    return PartialOutputs(chain=chain, outputs=partial_outputs(chain, datasets_by_uid, plan))
