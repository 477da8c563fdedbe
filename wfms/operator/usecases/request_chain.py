"""Carries a data set through a template because somebody asks for it."""

from sluice.clients.chains import ChainsClient
from sluice.clients.dms import DmsClient
from sluice.contracts.chains import Chain, NewChain, RequestChain
from sluice.contracts.matching import bind, facts_of
from sluice.contracts.states import DatasetState
from sluice.servicekit.database import Database
from wfms.operator.domain.errors import DatasetUnusable
from wfms.operator.usecases.read_template import read_template

_GONE = {DatasetState.DELETING, DatasetState.DELETED}


async def request_chain(database: Database, chains: ChainsClient, dms: DmsClient, request: RequestChain) -> Chain:
    """Precondition: the template and the data set exist, and the data set is not deleted (one that is still open is waited for).
    Effect: a chain, or the one that is there for this data set and template version. Messages: none of ours. Raises
    ``TemplateUnknown``, ``NotFound`` (the data set), ``DatasetUnusable``, ``Unprocessable`` (parameters), ``NotAvailable``."""
    template = await read_template(database, request.template)
    dataset = await dms.dataset(request.dataset_uid)
    if dataset.state in _GONE:
        raise DatasetUnusable(dataset.name, dataset.state.value)
    bound, _ = bind(template.plan, facts_of(dataset))
    chain = NewChain(
        dataset=dataset,
        template_id=template.id,
        template_name=template.name,
        template_version=template.version,
        plan=template.plan,
        params={**bound, **request.params},
    )
    return await chains.new_dataset(chain)
