"""Routes of templates' schedules."""

from sluice.contracts.access.services import CallingService
from sluice.contracts.common.problems import NotAvailable
from sluice.contracts.data.append_only import ScheduleList, TriggerDepth
from sluice.servicekit.access.policy import allow
from sluice.servicekit.web.http import api_router, errors
from sluice.servicekit.web.openapi import client_hints
from wfms.intake.api.dependencies import Context
from wfms.intake.usecases.list_schedules import list_schedules

router = api_router("/api/v1", tags=["schedules"])


@router.get(
    "/schedules",
    operation_id="list_schedules",
    openapi_extra=client_hints(returns="schedules"),
    responses=errors(NotAvailable),
)
@allow(CallingService.OPERATOR)
async def list_schedules_route(context: Context, template: str | None = None) -> ScheduleList:
    """List templates with a schedule, with the last time that each was started for."""
    return await list_schedules(context.database, template)


@router.get(
    "/generations",
    operation_id="get_max_generations",
    openapi_extra=client_hints(returns="most"),
)
@allow(CallingService.OPERATOR)
async def get_max_generations_route(context: Context) -> TriggerDepth:
    """Return how many chains start one after the other in a trigger cycle."""
    return TriggerDepth(most=context.generations)
