"""List the newest chains that have not ended."""

import asyncio

from sluice.clients.chains import ChainsClient
from sluice.contracts.chains.chains import Chain, ChainListState
from sluice.contracts.common.states import ChainState

_RUNNING = [state for state in ChainState if not state.final]


async def list_newest_running(chains: ChainsClient, *, limit: int) -> list[Chain]:
    """Return the newest chains that have not ended.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    pages = await asyncio.gather(
        *(chains.list_chains(state=ChainListState(state), limit=limit) for state in _RUNNING)
    )
    running_chains = [chain for page in pages for chain in page.chains]
    return sorted(running_chains, key=lambda chain: chain.created_at, reverse=True)[:limit]
