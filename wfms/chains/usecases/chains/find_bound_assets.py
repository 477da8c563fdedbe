"""Find the versions of the assets that a plan binds to a new chain.

The chain keeps these versions, whatever is added or taken back later.
"""

from typing import Any

from sluice.clients.operator import OperatorClient
from sluice.contracts.chains.chains import NewChain
from wfms.chains.domain.assets import list_bound_assets
from wfms.chains.usecases.chains.asset_values import find_asset_values


async def find_bound_assets(operator: OperatorClient, new: NewChain) -> dict[str, Any]:
    """Return the values of assets that the plan binds and the request lacks, by parameter.

    Raises:
        ChainRefused: An asset does not exist or does not fit its parameter.
        NotAvailable: The operator service does not answer.
    """
    return await find_asset_values(operator, new, list_bound_assets(new.plan, new.params))
