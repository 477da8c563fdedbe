"""Delete a data set on request, unless chains need it (invariant 4).

This service decides, because the DMS knows no chains. Creating a chain and granting a deletion take
the lock of the same row of ``inputs``. So either the chain exists first and the deletion is
refused, or the data set is marked and chains no longer start on it. A granted deletion is a row
until the DMS has taken it over, so that a crash loses nothing.
"""

from uuid import UUID

from sluice.contracts.access.owners import ALL, Visibility
from sluice.contracts.common.problems import (
    Finding,
    ForceRequired,
)
from sluice.contracts.common.states import DatasetType
from sluice.contracts.data.asset_refs import MARK
from sluice.contracts.data.assets import AssetInUse
from sluice.contracts.data.datasets import Dataset
from wfms.chains.db import chains, deletions
from wfms.chains.db.deletions import DependentChain
from wfms.chains.usecases.context import ChainsContext
from wfms.chains.usecases.data.dataset_access import require_owned
from wfms.chains.usecases.data.dataset_deletion import carry_out_deletion

#: Number of chains named in a refusal; further ones are only counted.
MAX_NAMED = 20


class DatasetNeeded(ForceRequired):
    """Chains that have not ended need the data set; the findings name them."""

    def __init__(self, dataset: Dataset, dependent_chains: list[DependentChain]) -> None:
        count = (
            f"{len(dependent_chains)} chains that have"
            if len(dependent_chains) != 1
            else f"chain {dependent_chains[0].uid}, which has"
        )
        super().__init__(
            f"data set {dataset.name} is needed by {count} not ended: wait or cancel",
            forced="cancels the chains that need it, and then deletes it",
            findings=[
                Finding(
                    message=(
                        f"chain {chain.uid}: {chain.dataset} through {chain.template},"
                        f" {chain.state}"
                    )
                )
                for chain in dependent_chains[:MAX_NAMED]
            ],
            dataset=dataset.uid,
            chains=len(dependent_chains),
        )


async def delete_dataset(
    context: ChainsContext,
    uid: UUID,
    *,
    force: bool,
    taken_back: bool = False,
    visibility: Visibility = ALL,
) -> Dataset:
    """Have the DMS delete a data set. Repeating it is fine.

    With ``force``, chains that need the data set are canceled. It is deleted when the last of them
    has ended; a chain that uploads its output ends without help. Chains no longer start on it or
    take it over.

    Args:
        context: Clients and settings.
        uid: The data set.
        force: Cancel chains that need it, and delete it even if it is an output.
        taken_back: Chains no longer get it as an asset. Otherwise even ``force`` does not delete
            an asset.
        visibility: The visibility of the caller.

    Raises:
        NotFound: The data set does not exist or is not visible.
        Forbidden: It belongs to another group.
        DatasetNeeded: Chains that have not ended need it.
        AssetInUse: It holds a version of an asset.
        Conflict: It is an output, and ``force`` is not set.
        NotAvailable: The DMS does not answer.
    """
    database = context.database
    dataset = await context.dms.get_dataset(uid)
    require_owned(dataset, visibility)
    if MARK in dataset.meta and not taken_back:
        raise AssetInUse(uid, dataset.name, dataset.meta[MARK])
    last = dataset.type is DatasetType.OUTPUT or dataset.append_only is not None
    if last and not force:
        return await context.dms.delete_dataset(uid)  # the DMS refuses, and says why
    now = database.clock.now()
    async with database.transaction() as transaction:
        await chains.lock_inputs(transaction.connection, [uid])
        needing = await deletions.list_dependent_chains(transaction.connection, uid)
        if needing and not force:
            raise DatasetNeeded(dataset, needing)
        await deletions.mark_input_released(transaction.connection, uid, now=now)
        await deletions.store_request(transaction.connection, uid, force=force, now=now)
    return await carry_out_deletion(context, uid, force=force) or dataset
