"""Client of the chain service: the generated calls, and selections of chains."""

from collections.abc import Sequence
from uuid import UUID

from sluice.clients.generated.chains import ChainsCalls
from sluice.contracts.chains.chains import Chain, NewChain
from sluice.contracts.data.datasets import Dataset


class ChainsClient(ChainsCalls):
    """Client of the chain service."""

    service = "wfms.chains"

    async def create_chain(self, new: NewChain) -> Chain:
        """Create a chain for a data set, or return the one that exists.

        Raises:
            Unprocessable: The parameters do not fit the plan. The error has findings.
            Conflict: The data set is deleted or about to be.
        """
        chain, _ = await self.create_new_chain(new)
        return chain

    async def delete_asset(self, uid: UUID) -> Dataset:
        """Delete the data set of an asset version that has been removed.

        Raises:
            NotFound: There is no such data set.
            Conflict: Chains still need it.
        """
        return await self.delete_dataset(uid, taken_back=True)

    async def list_chains_by_uid(self, uids: Sequence[UUID]) -> list[Chain]:
        """Return the existing chains of at most 100 uids."""
        return (await self.list_chains(uid=uids, limit=len(uids))).chains if uids else []

    async def list_last_ended_chains(self, *, limit: int) -> list[Chain]:
        """Return the chains that ended last, the latest first."""
        return (await self.list_chains(ended=True, limit=limit)).chains
