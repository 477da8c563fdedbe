"""Routes for operators: steps over all chains."""

from fastapi import APIRouter

from sluice.contracts.access import CallingService, Role
from sluice.contracts.steps import RankStep, StepList
from sluice.servicekit.access.asking import Seen
from sluice.servicekit.access.policy import allow
from sluice.servicekit.http import api_router
from wms.usecases.context import WmsContext
from wms.usecases.list_steps import list_steps
from wms.usecases.prioritise_step import prioritise_step


def steps_router(context: WmsContext) -> APIRouter:
    router = api_router("/api/v1/steps", tags=["steps"])

    @router.get("")
    @allow(Role.VIEWER, CallingService.OPERATOR)
    async def steps(visibility: Seen) -> StepList:
        """Lists steps that have tasks, or had some within a day: how many jobs wait, for how long,
        what pilots have, how long jobs take, and what people have set."""
        return await list_steps(context, visibility)

    @router.put("")
    @allow(CallingService.OPERATOR)
    async def priority(new: RankStep, visibility: Seen) -> StepList:
        """Ranks a step against others over all chains: 0 or more is added to the rank of its tasks;
        with -1 no job of it is given away, and what runs is finished. Repeating it is fine."""
        await prioritise_step(context, new)
        return await list_steps(context, visibility)

    return router
