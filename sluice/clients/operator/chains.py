"""Calls to the operator service about chains."""

from typing import Any, Unpack
from uuid import UUID

from sluice.clients.base import API
from sluice.clients.chain_calls import SharedChainCalls
from sluice.clients.chain_filters import ChainFilters
from sluice.contracts.chains.chains import (
    Chain,
    ChainOutputs,
    ChainPage,
    RequestChain,
)
from sluice.contracts.data.partial import PartialOutputs


class ChainCalls(SharedChainCalls):
    """Calls about chains."""

    async def request_chain(
        self,
        dataset: UUID | None,
        template: str,
        *,
        run_template: UUID | None = None,
        params: dict[str, Any] | None = None,
        rank: float = 0.0,
    ) -> Chain:
        """Request a chain, or return the one of an earlier equal request.

        Args:
            dataset: The input. None means that the template takes no input.
            template: The name of the template.
            run_template: A template from ``store_run_template``.
            params: The parameters.
            rank: Added to the ranks of the chain's tasks.

        Raises:
            NotFound: The data set or the template does not exist.
            Conflict: The data set cannot be used.
            Unprocessable: The parameters are wrong.
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
        """Request a chain as ``request_chain``, and return whether it is new."""
        body = RequestChain(
            dataset_uid=dataset,
            template=template,
            run_template=run_template,
            params=params or {},
            rank=rank,
        )
        return await self.create(f"{API}/chains", body=body, answer=Chain)

    async def list_chains(
        self,
        *,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        **filters: Unpack[ChainFilters],
    ) -> ChainPage:
        """Return a page of chains, newest first. ``name`` is the name of their input."""
        params = {**filters, "name": name, "after": after, "limit": limit}
        return await self.call("GET", f"{API}/chains", answer=ChainPage, params=params)

    async def list_outputs(self, uid: UUID) -> ChainOutputs:
        """Return the outputs of a chain.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("GET", f"{API}/chains/{uid}/outputs", answer=ChainOutputs)

    async def list_partial_outputs(self, uid: UUID) -> PartialOutputs:
        """Return the partial outputs of a chain, and what is missing.

        Raises:
            NotFound: There is no such chain.
        """
        return await self.call("GET", f"{API}/chains/{uid}/partial", answer=PartialOutputs)
