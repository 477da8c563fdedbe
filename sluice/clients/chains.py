"""Client of the chain service."""

from collections.abc import Sequence
from typing import Unpack
from uuid import UUID

from sluice.clients.base import API
from sluice.clients.chain_filters import ChainFilters
from sluice.clients.quotas import QuotaCalls
from sluice.contracts.attention import Acknowledge, ChainCounts
from sluice.contracts.chains import (
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
from sluice.contracts.datasets import Dataset
from sluice.contracts.states import StepState
from sluice.contracts.tasks import Cancel, Prioritise, TaskStatus


class ChainsClient(QuotaCalls):
    service = "wfms.chains"

    async def new_dataset(self, new: NewChain) -> Chain:
        """Makes the chain; a repetition answers with the first. Raises ``Unprocessable``
        (parameters that do not fit the plan, with findings), ``Conflict`` (the data set is deleted
        or about to be).
        """
        chain, _ = await self.new_chain(new)
        return chain

    async def new_chain(self, new: NewChain) -> tuple[Chain, bool]:
        """As ``new_dataset``, with whether the chain is new."""
        return await self.create(f"{API}/datasets", body=new, answer=Chain)

    async def chains(
        self,
        *,
        attention: bool = False,
        failures: bool = False,
        after: str | None = None,
        limit: int | None = None,
        **filters: Unpack[ChainFilters],
    ) -> ChainPage:
        """Return a page of chains, newest first.

        A chain service of the release before does not know ``template``, ``owner`` and ``meta``,
        and gives chains of all.

        Args:
            attention: Only those that need a person.
            failures: With the numbers of failed jobs.
            after: The ``after`` of the page before.
            limit: Length of the page.
            **filters: All of them have to hold.
        """
        params = {
            **filters,
            "attention": attention or None,
            "failures": failures or None,
            "after": after,
            "limit": limit,
        }
        return await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)

    async def chains_that_use(self, dataset: UUID, *, limit: int) -> ChainPage:
        """Newest first, those that have it as their input or as the value of a parameter (a chain
        service of the release before gives none that have it so).
        """
        page = await self.call(
            "GET", f"{API}/chains", answer=ChainPage, params={"uses": dataset, "limit": limit}
        )
        using = [
            chain
            for chain in page.chains
            if any(held.uid == dataset and held.step is None for held in chain.datasets)
        ]
        return page.model_copy(update={"chains": using})

    async def delete_asset(self, uid: UUID) -> Dataset:
        """Deletes the data set of a version that is given to nobody any more. Raises ``NotFound``,
        ``Conflict`` while chains need it.
        """
        return await self.call(
            "DELETE", f"{API}/datasets/{uid}", answer=Dataset, params={"taken_back": True}
        )

    async def known_chains(self, uids: Sequence[UUID]) -> list[Chain]:
        """Those of at most 100 that are known (a chain service of the release before gives those
        among the newest).
        """
        if not uids:
            return []
        page = await self.call(
            "GET",
            f"{API}/chains",
            answer=ChainPage,
            params={"uid": list(uids), "limit": len(uids)},
        )
        return [chain for chain in page.chains if chain.uid in uids]

    async def last_ended(self, *, limit: int) -> list[Chain]:
        """The last to end first (a chain service of the release before gives those among the
        newest).
        """
        page = await self.call(
            "GET", f"{API}/chains", answer=ChainPage, params={"ended": True, "limit": limit}
        )
        return [chain for chain in page.chains if chain.ended_at is not None]

    async def chain(self, uid: UUID, *, failures: bool = False) -> Chain:
        """Return a chain; with ``failures``, with the numbers of failed jobs.

        Raises:
            NotFound: There is none.
        """
        params = {"failures": failures or None}
        return await self.call("GET", f"{API}/chains/{uid}", answer=Chain, params=params)

    async def counts(self) -> ChainCounts:
        """Chains under way and those that need a person. Raises ``NotFound`` where a release before
        this one answers.
        """
        return await self.call("GET", f"{API}/counts", answer=ChainCounts)

    async def acknowledge_chain(self, uid: UUID, asked: Acknowledge) -> Chain:
        """Somebody has seen that it failed. Raises ``NotFound``; ``Conflict`` where it has not, or
        where somebody else has seen it first.
        """
        return await self.call("POST", f"{API}/chains/{uid}/acknowledge", body=asked, answer=Chain)

    async def cancel_chain(self, uid: UUID, asked: Cancel | None = None) -> Chain:
        """The chain as it is now: canceled once its running tasks have stopped. Repeating it is
        fine. Raises ``NotFound``, ``Conflict`` (all its steps are done).
        """
        return await self.call("POST", f"{API}/chains/{uid}/cancel", body=asked, answer=Chain)

    async def rank_chain(self, uid: UUID, rank: float) -> Chain:
        """Added to the ranks of its steps, of running ones at once. Raises ``NotFound``;
        ``Conflict`` where no step is to run any more; ``NotAvailable``.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/rank", body=Prioritise(rank=rank), answer=Chain
        )

    async def plan_rerun(self, uid: UUID, asked: RerunChain) -> RerunPlan:
        """What ``rerun_chain`` would do. Raises as that, but for what is missing."""
        return await self.call(
            "POST", f"{API}/chains/{uid}/rerun/plan", body=asked, answer=RerunPlan
        )

    async def rerun_chain(self, uid: UUID, asked: RerunChain) -> tuple[Chain, bool]:
        """The new chain, and whether it is new: a ``key`` makes repetitions one. Raises
        ``NotFound``; ``Conflict`` (the chain has not ended, nothing of it failed, or something
        needed cannot be had any more); ``Unprocessable`` (step, parameters).
        """
        return await self.create(f"{API}/chains/{uid}/rerun", body=asked, answer=Chain)

    async def discard_chain(self, uid: UUID) -> Chain:
        """Its data are deleted once it is over. Repeating it is fine. Raises ``NotFound``."""
        return await self.call("POST", f"{API}/chains/{uid}/discard", answer=Chain)

    async def delete_dataset(self, uid: UUID, *, force: bool = False) -> Dataset:
        """As it is now: deleting, or as before while chains that need it are canceled (``force``).
        Raises ``NotFound``; ``Conflict`` while chains need it, or for an output, unless ``force``.
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
        paged: bool = False,
        full: bool = False,
    ) -> ChainTaskList:
        """Those of the newest chains first, with the WMS's counts where it answers; ``paged``: and
        where the next page begins; ``full``: with how many jobs were killed.
        """
        params = {
            "chain": chain,  # release 0.1.0 does not know chain_uid
            "state": state,
            "after": after,
            "limit": limit,
            "paged": paged or None,
            "full": full or None,
        }
        return await self.call("GET", f"{API}/tasks", answer=ChainTaskList, params=params)

    async def task(self, uid: UUID, *, full: bool = False) -> ChainTask:
        """``full``: as in ``tasks``. Raises ``NotFound``."""
        return await self.call(
            "GET", f"{API}/tasks/{uid}", answer=ChainTask, params={"full": full or None}
        )

    async def cancel_task(self, uid: UUID, asked: Cancel | None = None) -> TaskStatus:
        """Passed on to the WMS; the chain ends as canceled with its task. Raises ``NotFound``,
        ``Conflict``.
        """
        return await self.call("POST", f"{API}/tasks/{uid}/cancel", body=asked, answer=TaskStatus)

    async def prioritise(self, uid: UUID, rank: float) -> TaskStatus:
        """Passed on to the WMS. Raises ``NotFound``, ``Conflict``."""
        return await self.call(
            "POST", f"{API}/tasks/{uid}/rank", body=Prioritise(rank=rank), answer=TaskStatus
        )

    async def task_ended(self, ended: TaskEnded) -> Release:
        """The watcher's report; the answer names what is to be deleted. Repeating it is fine.
        Raises ``NotFound``.
        """
        return await self.call("POST", f"{API}/tasks/finished", body=ended, answer=Release)
