"""Calls about chains and tasks that the chain service and the operator service have."""

from uuid import UUID

from sluice.clients.base import API, ServiceClient
from sluice.contracts.chains.attention import Acknowledge
from sluice.contracts.chains.chains import (
    Chain,
    ChainTask,
    ChainTaskList,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.common.states import StepState
from sluice.contracts.data.datasets import Dataset
from sluice.contracts.jobs.tasks import Cancel, Prioritise


class SharedChainCalls(ServiceClient):
    """Calls of the chain service that the operator service forwards."""

    async def get_chain(self, uid: UUID) -> Chain:
        """Return a chain.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("GET", f"{API}/chains/{uid}", answer=Chain)

    async def acknowledge_chain(self, uid: UUID, request: Acknowledge) -> Chain:
        """Acknowledge that a chain failed.

        Raises:
            NotFound: There is no such chain.
            Conflict: It has not failed, or somebody else has acknowledged it first.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/acknowledge", body=request, answer=Chain
        )

    async def cancel_chain(self, uid: UUID, request: Cancel | None = None) -> Chain:
        """Cancel a chain and return it. Repeating the call is safe.

        Its state is canceled once its running tasks have stopped.

        Raises:
            NotFound: There is no such chain.
            Conflict: All of its steps are finished.
        """
        return await self.call("POST", f"{API}/chains/{uid}/cancel", body=request, answer=Chain)

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

    async def plan_rerun(self, uid: UUID, request: RerunChain) -> RerunPlan:
        """Return what ``rerun_chain`` would do.

        It raises the same errors, except for missing data.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/rerun/plan", body=request, answer=RerunPlan
        )

    async def rerun_chain(self, uid: UUID, request: RerunChain) -> tuple[Chain, bool]:
        """Run a chain again, and return the new chain and whether it is new.

        Requests with the same ``key`` give the same chain.

        Raises:
            NotFound: There is no such chain.
            Conflict: The chain has not ended, nothing failed, or needed data are gone.
            Unprocessable: The step or the parameters are wrong.
        """
        return await self.create(f"{API}/chains/{uid}/rerun", body=request, answer=Chain)

    async def discard_chain(self, uid: UUID) -> Chain:
        """Discard a chain: its data are deleted once it has ended. Repeating the call is safe.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("POST", f"{API}/chains/{uid}/discard", answer=Chain)

    async def list_tasks(
        self,
        *,
        chain: UUID | None = None,
        state: StepState | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> ChainTaskList:
        """Return tasks of the newest chains first, with the WMS's counts if it answers.

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

    async def get_task(self, uid: UUID) -> ChainTask:
        """Return a task.

        Raises:
            NotFound: There is no such task.
        """
        return await self.call("GET", f"{API}/tasks/{uid}", answer=ChainTask)

    async def delete_dataset(self, uid: UUID, *, force: bool = False) -> Dataset:
        """Delete a data set and return it. With ``force``, chains that need it are canceled first.

        Raises:
            NotFound: There is no such data set.
            Conflict: Chains need it, or it is an output, and ``force`` is not set.
        """
        return await self.call(
            "DELETE", f"{API}/datasets/{uid}", answer=Dataset, params={"force": force}
        )
