"""Client of the chain service."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from sluice.clients.base import API
from sluice.clients.chain_calls import SharedChainCalls
from sluice.clients.chain_filters import ChainFilters
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.chains.attention import ChainCounts
from sluice.contracts.chains.chains import (
    Chain,
    ChainPage,
    NewChain,
    Release,
    TaskEnded,
)
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Cancel, Prioritise, TaskStatus


class ChainsClient(SharedChainCalls, QuotaCalls):
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

    async def create_new_chain(self, new: NewChain) -> tuple[Chain, bool]:
        """Create a chain as ``create_chain``, and return whether it is new."""
        return await self.create(f"{API}/datasets", body=new, answer=Chain)

    async def list_chains(
        self,
        *,
        attention: bool = False,
        after: str | None = None,
        limit: int | None = None,
        **filters: Unpack[ChainFilters],
    ) -> ChainPage:
        """Return a page of chains, newest first.

        Args:
            attention: Only chains that need attention.
            after: The ``after`` of the previous page.
            limit: The length of the page.
            **filters: Filters, all of which must match.
        """
        params = {
            **filters,
            "attention": attention or None,
            "after": after,
            "limit": limit,
        }
        return await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)

    async def list_chains_using(self, dataset: UUID, *, limit: int) -> ChainPage:
        """Return the chains with a data set as their input or as a parameter, newest first."""
        return await self.call(
            "GET", f"{API}/chains", answer=ChainPage, params={"uses": dataset, "limit": limit}
        )

    async def delete_asset(self, uid: UUID) -> Dataset:
        """Delete the data set of an asset version that has been removed.

        Raises:
            NotFound: There is no such data set.
            Conflict: Chains still need it.
        """
        return await self.call(
            "DELETE", f"{API}/datasets/{uid}", answer=Dataset, params={"taken_back": True}
        )

    async def list_chains_by_uid(self, uids: Sequence[UUID]) -> list[Chain]:
        """Return the existing chains of at most 100 uids."""
        if not uids:
            return []
        params = {"uid": list(uids), "limit": len(uids)}
        return (await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)).chains

    async def list_last_ended_chains(self, *, limit: int) -> list[Chain]:
        """Return the chains that ended last, the latest first."""
        params = {"ended": True, "limit": limit}
        return (await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)).chains

    async def get_counts(self) -> ChainCounts:
        """Return the numbers of running chains and of chains that need attention."""
        return await self.call("GET", f"{API}/counts", answer=ChainCounts)

    async def cancel_task(self, uid: UUID, request: Cancel | None = None) -> TaskStatus:
        """Cancel a task through the WMS. Its chain is then canceled, too.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=request, answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        """Set the rank of a task through the WMS.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended.
        """
        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def report_task_end(self, task_ended: TaskEnded) -> Release:
        """Report the end of a task, and return what is to be deleted. Repeating the call is safe.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("POST", f"{API}/tasks/finished", body=task_ended, answer=Release)
