"""Return the chains that use a version of an asset."""

from sluice.contracts.data.assets import AssetUse, AssetVersion
from wfms.operator.context import OperatorContext

#: Chains that are listed for each version.
MAX_NAMED = 20


async def get_version_use(context: OperatorContext, version: AssetVersion) -> AssetUse:
    """Return a version with the chains that use it.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    page = await context.chains.list_chains(uses=version.dataset_uid, limit=MAX_NAMED)
    return AssetUse(version=version, chains=page.chains, more=page.after is not None)
