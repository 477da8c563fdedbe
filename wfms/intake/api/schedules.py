"""REST routes of the intake: schedules of templates."""

from fastapi import APIRouter

from sluice.contracts.access import CallingService
from sluice.contracts.problems import NotAvailable
from sluice.contracts.standing import ScheduleList
from sluice.servicekit.access.policy import allow
from sluice.servicekit.database import Database
from sluice.servicekit.http import api_router, errors
from wfms.intake.usecases.read_schedules import read_schedules


def schedules_router(database: Database) -> APIRouter:
    router = api_router("/api/v1", tags=["schedules"])

    @router.get("/schedules", responses=errors(NotAvailable))
    @allow(CallingService.OPERATOR)
    async def schedules(template: str | None = None) -> ScheduleList:
        """Lists templates that begin by the clock, with the time that each ran for last."""
        return await read_schedules(database, template)

    return router
