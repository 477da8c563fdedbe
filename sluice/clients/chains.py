"""Client of the chain service."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from sluice.clients.base import API
from sluice.clients.chain_filters import ChainFilters
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.chains.attention import Acknowledge, ChainCounts
from sluice.contracts.chains.chains import (
    Chain,
    ChainPage,
    ChainTask,
    ChainTaskList,
    NewChain,
    Release,
    RerunChain,
    RerunPlan,
    TaskEnded,
)
from sluice.contracts.common.states import StepState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Cancel, Prioritise, TaskStatus


class ChainsClient(QuotaCalls):
    """Client of the chain service."""

    service = "wfms.chains"

    async def new_dataset(self, new: NewChain) -> Chain:
        """Create a chain for a data set, or return the one that exists.

        Raises:
            Unprocessable: The parameters do not fit the plan. The error has findings.
            Conflict: The data set is deleted or about to be.
        """
        chain, _ = await self.new_chain(new)
        return chain

    async def new_chain(self, new: NewChain) -> tuple[Chain, bool]:
        """Create a chain as ``new_dataset``, and return whether it is new."""
        return await self.create(f"{API}/datasets", body=new, answer=Chain)

    async def chains(
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

    async def chains_that_use(self, dataset: UUID, *, limit: int) -> ChainPage:
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

    async def known_chains(self, uids: Sequence[UUID]) -> list[Chain]:
        """Return those of at most 100 chains that exist."""
        if not uids:
            return []
        params = {"uid": list(uids), "limit": len(uids)}
        return (await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)).chains

    async def last_ended(self, *, limit: int) -> list[Chain]:
        """Return the chains that ended last, the latest first."""
        params = {"ended": True, "limit": limit}
        return (await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)).chains

    async def chain(self, uid: UUID) -> Chain:
        """Return a chain.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("GET", f"{API}/chains/{uid}", answer=Chain)

    async def counts(self) -> ChainCounts:
        """Return the numbers of running chains and of those that need attention."""
        return await self.call("GET", f"{API}/counts", answer=ChainCounts)

    async def acknowledge_chain(self, uid: UUID, asked: Acknowledge) -> Chain:
        """Acknowledge that a chain failed.

        Raises:
            NotFound: There is no such chain.
            Conflict: It has not failed, or somebody else has acknowledged it first.
        """
        return await self.call("POST", f"{API}/chains/{uid}/acknowledge", body=asked, answer=Chain)

    async def cancel_chain(self, uid: UUID, asked: Cancel | None = None) -> Chain:
        """Cancel a chain and return it. Repeating the call is safe.

        Its state is canceled once its running tasks have stopped.

        Raises:
            NotFound: There is no such chain.
            Conflict: All of its steps are finished.
        """
        return await self.call("POST", f"{API}/chains/{uid}/cancel", body=asked, answer=Chain)

    async def rank_chain(self, uid: UUID, rank: float) -> Chain:
        """Set the rank of a chain, which is added to the ranks of its tasks, also of running ones.

        Raises:
            NotFound: There is no such chain.
            Conflict: No step is left to run.
            NotAvailable: The WMS does not answer.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/rank", body=Prioritise(rank=rank), answer=Chain
        )

    async def plan_rerun(self, uid: UUID, asked: RerunChain) -> RerunPlan:
        """Return what ``rerun_chain`` would do.

        It raises the same errors, except for missing data.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/rerun/plan", body=asked, answer=RerunPlan
        )

    async def rerun_chain(self, uid: UUID, asked: RerunChain) -> tuple[Chain, bool]:
        """Run a chain again, and return the new chain and whether it is new.

        Requests with the same ``key`` give the same chain.

        Raises:
            NotFound: There is no such chain.
            Conflict: The chain has not ended, nothing failed, or needed data are gone.
            Unprocessable: The step or the parameters are wrong.
        """
        return await self.create(f"{API}/chains/{uid}/rerun", body=asked, answer=Chain)

    async def discard_chain(self, uid: UUID) -> Chain:
        """Discard a chain: its data are deleted once it has ended. Repeating the call is safe.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("POST", f"{API}/chains/{uid}/discard", answer=Chain)

    async def delete_dataset(self, uid: UUID, *, force: bool = False) -> Dataset:
        """Delete a data set and return it. With ``force``, chains that need it are canceled first.

        Raises:
            NotFound: There is no such data set.
            Conflict: Chains need it, or it is an output, and ``force`` is not set.
        """
        return await self.call(
            "DELETE", f"{API}/datasets/{uid}", answer=Dataset, params={"force": force}
        )

    async def tasks(
        self,
        *,
        chain: UUID | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ChainTaskList:
        """Return tasks, those of the newest chains first, with the WMS's counts if it answers.

        Args:
            chain: Only tasks of this chain.
            state: Only tasks in this state.
            after: The ``after`` of the previous page.
            limit: The length of the page.
        """
        params = {
            "chain_uid": chain,
            "state": state,
            "after": after,
            "limit": limit,
        }
        return await self.call("GET", f"{API}/tasks", answer=ChainTaskList, params=params)

    async def task(self, uid: UUID) -> ChainTask:
        """Return a task.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("GET", f"{API}/tasks/{uid}", answer=ChainTask)

    async def cancel_task(self, uid: UUID, asked: Cancel | None = None) -> TaskStatus:
        """Cancel a task through the WMS. Its chain is then canceled, too.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=asked, answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        """Set the rank of a task through the WMS.

        Raises:
            NotFound: There is no such task.
            Conflict: The task has ended.
        """
        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def task_ended(self, ended: TaskEnded) -> Release:
        """Report the end of a task, and return what is to be deleted. Repeating the call is safe.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("POST", f"{API}/tasks/finished", body=ended, answer=Release)
