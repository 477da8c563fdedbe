"""Routes that plan and run a rerun of a chain."""

from uuid import UUID

from fastapi import Response, status

from sluice.contracts.access.services import CallingService
from sluice.contracts.chains.chains import Chain, RerunChain, RerunPlan
from sluice.contracts.common.problems import Conflict, NotAvailable, NotFound, Unprocessable
from sluice.servicekit.access.policy import allow
from sluice.servicekit.access.principal_dependencies import CallerPerson
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.chains.api.dependencies import Context, Wakes
from wfms.chains.usecases.chains.get_chain import get_chain
from wfms.chains.usecases.reruns.plan_chain_rerun import plan_chain_rerun
from wfms.chains.usecases.reruns.rerun_chain import rerun_chain

_REFUSALS = errors(NotFound, Conflict, Unprocessable, NotAvailable)

router = api_router("/api/v1/chains/{uid}/rerun", tags=["chains"])


@router.post("/plan", operation_id="plan_rerun", responses=_REFUSALS)
@allow(CallingService.OPERATOR)
async def plan_rerun_route(
    context: Context, uid: UUID, request: RerunChain, by: CallerPerson
) -> RerunPlan:
    """Return what a rerun would do.

    The answer says which steps run how many jobs, which steps are taken over, and what is
    missing.
    """
    return await plan_chain_rerun(context, uid, request, by=by)


@router.post(
    "",
    operation_id="rerun_chain",
    openapi_extra=client_hints(returns_created=True),
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": Chain}, **_REFUSALS},
)
@allow(CallingService.OPERATOR)
async def rerun_chain_route(
    context: Context,
    wakes: Wakes,
    *,
    uid: UUID,
    request: RerunChain,
    response: Response,
    by: CallerPerson,
) -> Chain:
    """Run a chain that is over again.

    201 with a new chain, which takes over the data of finished steps that still exists; 200
    with the first one for a repetition with the same `key`. Refused if data that it needs
    no longer exists.
    """
    new_uid, created = await rerun_chain(context, uid, request, by=by)
    wakes.change()
    response.status_code = status.HTTP_201_CREATED if created else status.HTTP_200_OK
    return await get_chain(context.database, new_uid)
