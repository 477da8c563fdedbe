"""What the operator service is asked about chains."""

from collections.abc import Mapping
from typing import Any, Unpack
from uuid import UUID

from sluice.clients.base import API, AnswerT, ServiceClient
from sluice.clients.chain_filters import ChainFilters
from sluice.contracts.chains import (
    Chain,
    ChainOutputs,
    ChainPage,
    RequestChain,
    RerunChain,
    RerunPlan,
)
from sluice.contracts.partial import PartialOutputs
from sluice.contracts.tasks import Cancel, Prioritise


class ChainCalls(ServiceClient):
    """Chains: asked for, followed, ended, run again."""

    async def request_chain(
        self,
        dataset: UUID | None,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
        rank: float = 0.0,
    ) -> Chain:
        """``dataset`` None: the template takes none. ``run_template``: one that
        ``store_run_template`` gave. A repetition gives the first. Raises ``NotFound``, ``Conflict``
        (the data set cannot be used), ``Unprocessable`` (parameters).
        """
        chain, _ = await self.request_new_chain(
            dataset, template, run_template=run_template, params=params, rank=rank
        )
        return chain

    async def request_new_chain(
        self,
        dataset: UUID | None,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
        rank: float = 0.0,
    ) -> tuple[Chain, bool]:
        """As ``request_chain``, with whether the chain is new."""
        body = RequestChain(
            dataset_uid=dataset,
            template=template,
            run_template=run_template,
            params=params or {},
            rank=rank,
        )
        return await self.create(f"{API}/chains", body=body, answer=Chain)

    async def chains(
        self,
        *,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        **filters: Unpack[ChainFilters],
    ) -> ChainPage:
        """Return a page of chains, newest first; ``name``: of their input data set."""
        params = {**filters, "name": name, "after": after, "limit": limit}
        return await self._with_failures(f"{API}/chains", ChainPage, params)

    async def chain(self, uid: UUID) -> Chain:
        """Return a chain with the numbers of failed jobs, where the service knows them."""
        return await self._with_failures(f"{API}/chains/{uid}", Chain, {})

    async def _with_failures(
        self, path: str, answer: type[AnswerT], params: Mapping[str, Any]
    ) -> AnswerT:
        """Ask for the numbers of failed jobs, too, unless the service is of the release before."""
        return await self.read_more(
            path, answer=answer, params=params, additions={"failures": True}
        )

    async def outputs(self, uid: UUID) -> ChainOutputs:
        """What the chain gives in the end. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/chains/{uid}/outputs", answer=ChainOutputs)

    async def rank_chain(self, uid: UUID, rank: float) -> Chain:
        """Added to the ranks of its steps, of running ones at once. Raises ``NotFound``;
        ``Conflict`` where no step is to run any more; ``NotAvailable``.
        """
        return await self.call(
            "POST", f"{API}/chains/{uid}/rank", body=Prioritise(rank=rank), answer=Chain
        )

    async def partial(self, uid: UUID) -> PartialOutputs:
        """What there is of it, and what is missing. Raises ``NotFound``."""
        return await self.call("GET", f"{API}/chains/{uid}/partial", answer=PartialOutputs)

    async def cancel_chain(self, uid: UUID, asked: Cancel | None = None) -> Chain:
        """Raises ``NotFound``; ``Conflict`` where it has ended otherwise."""
        return await self.call("POST", f"{API}/chains/{uid}/cancel", body=asked, answer=Chain)

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
        """Its data are deleted once it is over, outputs too. Raises ``NotFound``."""
        return await self.call("POST", f"{API}/chains/{uid}/discard", answer=Chain)
