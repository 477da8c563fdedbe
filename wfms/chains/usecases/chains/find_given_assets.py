"""Find the versions of the assets that a request gives to a new chain.

The chain keeps these versions, whatever is added or taken back later.
"""

from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import NewChain
from sluice.contracts.data.asset_refs import AssetRef, is_asset
from wfms.chains.usecases.chains.asset_values import find_asset_values


async def find_given_assets(operator: OperatorClient, new: NewChain) -> NewChain:
    """Return the chain with its given assets replaced by the files of their versions.

    The parameters must have no findings.

    Raises:
        ChainRefused: An asset does not exist or does not fit its parameter.
        NotAvailable: The operator service does not answer.
    """
    refs = {
        name: AssetRef.read(value)
        for name, value in new.params.items()
        if name in new.plan.file_parameters and is_asset(value)
    }
    values = await find_asset_values(operator, new, refs)
    return new.model_copy(update={"params": {**new.params, **values}})
