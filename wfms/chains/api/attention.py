"""Routes that count chains and acknowledge failed ones."""

from uuid import UUID

from sluice.contracts.access.access import Role
from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.attention import Acknowledge, ChainCounts
from sluice.contracts.chains.chains import Chain
from sluice.contracts.common.problems import Conflict, NotFound
from sluice.servicekit.access.policy import SHIFT_OR_OWNER, allow
from sluice.servicekit.access.principal_dependencies import CallerVisibility
from sluice.servicekit.web.http import api_router, errors
from wfms.chains.api.dependencies import Context
from wfms.chains.usecases.chains.acknowledge_chain import acknowledge_chain
from wfms.chains.usecases.chains.count_chains import count_chains
from wfms.chains.usecases.chains.get_chain import get_chain

router = api_router("/api/v1", tags=["chains"])


@router.get("/counts", operation_id="get_counts")
@allow(Role.VIEWER, CallingService.OPERATOR)
async def get_counts_route(context: Context, visibility: CallerVisibility) -> ChainCounts:
    """Count the chains that have not ended, and those that need a person.

    The latter are listed by `/chains?attention=true`.
    """
    return await count_chains(context.database, visibility)


@router.post(
    "/chains/{uid}/acknowledge",
    operation_id="acknowledge_chain",
    responses=errors(NotFound, Conflict),
)
@allow(CallingService.OPERATOR, gateway=SHIFT_OR_OWNER)
async def acknowledge_chain_route(context: Context, uid: UUID, request: Acknowledge) -> Chain:
    """Acknowledge the failure of a chain, so that it no longer needs attention.

    The request may be repeated. Another person is told who was first (409).
    """
    await acknowledge_chain(context.database, uid, request)
    return await get_chain(context.database, uid)
