"""List chains with the progress of their steps."""

from dataclasses import dataclass

from sluice.contracts.chains.chains import ChainListState
from wfms.operator.chains.domain.progress import ChainProgress
from wfms.operator.chains.usecases.chains.list_progress import list_progress
from wfms.operator.context import OperatorContext

#: Chains on one page of the list.
PAGE = 30


@dataclass(frozen=True, slots=True)
class ChainList:
    """A page of chains; ``after`` is the start of the next page, or None on the last page."""

    chains: list[ChainProgress]
    after: str | None


async def list_chains(
    context: OperatorContext,
    *,
    state: ChainListState | None,
    template: str | None,
    after: str | None,
) -> ChainList:
    """Return one page of chains, newest first.

    Args:
        context: The context of the operator service.
        state: Only chains in this state.
        template: Only chains of any version of this template.
        after: The ``after`` of the previous page.

    Raises:
        NotAvailable: The chain service does not answer.
    """
    page = await context.chains.list_chains(state=state, template=template, after=after, limit=PAGE)
    return ChainList(await list_progress(context.wms, page.chains), page.after)
