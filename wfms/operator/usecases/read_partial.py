"""Reads what there is of a chain: what its steps wrote, as far as it is still there, and their
logs.
"""

from uuid import UUID

from sluice.contracts.partial import PartialOutputs
from wfms.operator.domain.errors import NothingLeft, StillRuns
from wfms.operator.domain.partial import partial_outputs
from wfms.operator.usecases.context import OperatorContext
from wfms.operator.usecases.read_templates import read_template_by_id


async def read_partial(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """Precondition: none. Effect: none. Raises ``NotFound`` and ``NotAvailable`` of the chain
    service and of the DMS.
    """
    chain = await context.chains.chain(uid)
    template = await read_template_by_id(context.database, chain.template_id)
    written = [entry.uid for entry in chain.datasets if entry.step is not None]
    known = {dataset.uid: dataset for dataset in await context.dms.datasets_of(written)}
    plan = None if template is None else template.plan
    return PartialOutputs(chain=chain, outputs=partial_outputs(chain, known, plan))


async def read_what_is_left(context: OperatorContext, uid: UUID) -> PartialOutputs:
    """As ``read_partial``, of a chain that is over, and only what can be read of it. Raises
    ``StillRuns``, ``NothingLeft`` as well.
    """
    found = await read_partial(context, uid)
    if not found.chain.state.final:
        raise StillRuns(found.chain)
    readable = [part for part in found.outputs if part.readable]
    if not readable:
        raise NothingLeft(found.chain)
    return found.model_copy(update={"outputs": readable})
